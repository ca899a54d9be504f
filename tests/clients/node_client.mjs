// What programs do with the JavaScript client: read, write, watch, log, exec, usage, port-forward. Prints what it found.
import { PassThrough } from 'node:stream';
const [, , library, file, namespace] = process.argv;
const k8s = await import(library);
const config = new k8s.KubeConfig();
config.loadFromFile(file);
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const sink = () => {
  const stream = new PassThrough();
  stream.text = '';
  stream.on('data', (data) => (stream.text += data));
  return stream;
};
const found = {};
await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'noted' }, data: { a: '1' } } });
const patch = [{ op: 'replace', path: '/data/a', value: '2' }];
found.patched = (await core.patchNamespacedConfigMap({ namespace, name: 'noted', body: patch })).data.a;
const pods = (await core.listNamespacedPod({ namespace, labelSelector: 'app=web' })).items;
found.pods = pods.length;
const { name } = pods[0].metadata;
const container = pods[0].spec.containers[0].name;
found.log = await core.readNamespacedPodLog({ namespace, name });
const stdout = sink();
found.exec = await new Promise((resolve, reject) =>
  new k8s.Exec(config)
    .exec(namespace, name, container, ['hostname'], stdout, null, null, false, (status) => resolve(status.status))
    .catch(reject),
);
found.isHost = stdout.text === `${name}\n`;
found.watched = await new Promise((resolve) => {
  const names = [];
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const query = { timeoutSeconds: 1 };
  new k8s.Watch(config).watch(path, query, (_, object) => names.push(object.metadata.name), () => resolve(names));
});
found.scaled = (await apps.readNamespacedDeploymentScale({ namespace, name: 'web' })).spec.replicas;
const usage = (await new k8s.Metrics(config).getPodMetrics(namespace)).items;
found.measured = usage.every((pod) => pod.containers.every((one) => one.usage.cpu.endsWith('n'))) && usage.length;
const [answer, input] = [sink(), new PassThrough()];
await new k8s.PortForward(config).portForward(namespace, name, [8080], answer, null, input);
input.write('GET / HTTP/1.1\r\nHost: web\r\n\r\n');
for (let turn = 0; turn < 200 && !answer.text.includes('\n\r\n'); turn++) await new Promise((go) => setTimeout(go, 50));
found.forwarded = answer.text.split('\r\n')[0];
found.missing = await core.readNamespacedPod({ namespace, name: 'none' }).catch((error) => error.code);
await core.deleteNamespacedConfigMap({ namespace, name: 'noted' });
console.log(JSON.stringify(found));
process.exit(0);
