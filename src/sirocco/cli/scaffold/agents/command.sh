#!/bin/sh
# An agent as a program: a request on standard input, an answer on standard output; KUBECONFIG leads to the cluster.
# Replace the last two commands by your own. It needs jq and kubectl.
#
#   sirocco agent check cmd:./agent.sh
set -eu

request=$(cat)
if [ "$(printf '%s' "$request" | jq -r '.request // ""')" = identity-and-configuration ]; then
    jq -n '{identity: {name: "mine", version: "0.1.0"}, configuration: {}}'
    exit
fi

prompt=$(printf '%s' "$request" | jq -r .prompt)
pods=$(kubectl get pods --output name)
jq -n --arg prompt "$prompt" --arg pods "$pods" '{final_answer: "You asked: \($prompt) These pods are there: \($pods)"}'
