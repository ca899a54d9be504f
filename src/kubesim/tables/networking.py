"""The types of networking.k8s.io and discovery.k8s.io as tables."""

from typing import Any

from kubesim.status import Json
from kubesim.tables.cells import (
    NONE,
    UNSET,
    items,
    mapping,
    name_and_age,
    selector,
    shorten_list,
    text,
    value_at,
)
from kubesim.tables.columns import AGE, NAME, Cells, Column, Printer, View
from kubesim.tables.core import load_balancers


def _ingress(obj: Json, view: View) -> Cells:
    rules = items(obj, "spec", "rules")
    hosts = [text(rule, "host") for rule in rules if text(rule, "host")]
    # Once three hosts are shown, the server counts all omitted rules, even those without a host.
    third = [index for index, rule in enumerate(rules) if text(rule, "host")][2:3]
    more = bool(third) and len(rules) > third[0] + 1
    return {
        **name_and_age(obj, view),
        "Class": text(obj, "spec", "ingressClassName") or NONE,
        "Hosts": ",".join(hosts[:3]) + (f" + {len(rules) - 3} more..." if more else "") or "*",
        "Address": load_balancers(obj),
        "Ports": "80, 443" if items(obj, "spec", "tls") else "80",
    }


def _ingress_class(obj: Json, view: View) -> Cells:
    given = value_at(obj, "spec", "parameters")
    kind = ".".join(part for part in (text(given, "kind"), text(given, "apiGroup")) if part)
    return {
        **name_and_age(obj, view),
        "Controller": text(obj, "spec", "controller"),
        "Parameters": NONE if given is None else f"{kind}/{text(given, 'name')}",
    }


def _network_policy(obj: Json, view: View) -> Cells:
    return {**name_and_age(obj, view), "Pod-Selector": selector(value_at(obj, "spec", "podSelector"))}


def _ip_address(obj: Json, view: View) -> Cells:
    parent = mapping(obj, "spec", "parentRef")
    parts = (text(parent, name) for name in ("resource", "group", "namespace", "name"))
    resource, group, namespace, name = parts
    kind = f"{resource}.{group}" if group else resource
    return {**name_and_age(obj, view), "ParentRef": "/".join(part for part in (kind, namespace, name) if part)}


def _service_cidr(obj: Json, view: View) -> Cells:
    return {**name_and_age(obj, view), "CIDRs": ",".join(map(str, items(obj, "spec", "cidrs")))}


def _endpoint_slice(obj: Json, view: View) -> Cells:
    addresses = [str(address) for endpoint in items(obj, "endpoints") for address in items(endpoint, "addresses")]
    return {
        **name_and_age(obj, view),
        "AddressType": text(obj, "addressType"),
        "Ports": shorten_list([_slice_port(port) for port in items(obj, "ports")]) or UNSET,
        "Endpoints": shorten_list(addresses) or UNSET,
    }


def _slice_port(port: Any) -> str:
    if value_at(port, "port") is not None:
        return text(port, "port")
    return "*" if value_at(port, "name") is None else text(port, "name")


PRINTERS = {
    "ingress": Printer(
        (
            NAME,
            Column("Class", text="The name of the IngressClass resource that should be used for additional "
                                 "configuration"),
            Column("Hosts", text="Hosts that incoming requests are matched against before the ingress rule"),
            Column("Address", text="Address is a list containing ingress points for the load-balancer"),
            Column("Ports", text="Ports of TLS configurations that open"),
            AGE,
        ),
        _ingress,
    ),
    "ingressclasses.networking.k8s.io": Printer(
        (
            NAME,
            Column("Controller", text="Controller that is responsible for handling this class"),
            Column("Parameters", text="A reference to a resource with additional parameters"),
            AGE,
        ),
        _ingress_class,
    ),
    "networkpolicy": Printer(
        (NAME, Column("Pod-Selector", of="networking.v1.NetworkPolicySpec/podSelector"), AGE), _network_policy
    ),
    "ipaddresses.networking.k8s.io": Printer(
        (NAME, Column("ParentRef", of="networking.v1.IPAddressSpec/parentRef"), AGE), _ip_address
    ),
    "servicecidrs.networking.k8s.io": Printer(
        (NAME, Column("CIDRs", of="networking.v1.ServiceCIDRSpec/cidrs"), AGE), _service_cidr
    ),
    "endpointslices.discovery.k8s.io": Printer(
        (
            NAME,
            Column("AddressType", of="discovery.v1.EndpointSlice/addressType"),
            Column("Ports", of="discovery.v1.EndpointSlice/ports"),
            Column("Endpoints", of="discovery.v1.EndpointSlice/endpoints"),
            AGE,
        ),
        _endpoint_slice,
    ),
}  # fmt: skip
