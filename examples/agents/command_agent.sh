#!/bin/sh
# An agent as a shell script, with jq and kubectl: a request on standard input, an answer on standard output.
# KUBECONFIG already leads to the environment of the turn. Whatever it is asked, it counts pods.
#
#   sirocco agent check cmd:examples/agents/command_agent.sh
set -eu

request=$(cat)
if [ "$(printf '%s' "$request" | jq -r .request)" = identity-and-configuration ]; then
    jq -n '{identity: {name: "pod-counter-sh", version: "1.0.0"}, configuration: {}}'
    exit
fi

names=$(kubectl get pods --output name)
count=$(printf '%s\n' "$names" | grep -c . || true)
jq -n --arg count "$count" --arg names "$names" '{
    actions: [{tool: "kubectl", arguments: {command: "get pods --output name"}, result: $names}],
    final_answer: "There are \($count) pods."
}'
