{{- /*
SPDX-License-Identifier: Apache-2.0
What the value ledger must not say, with the words of src/install/values/ledger.ts.
*/}}

{{- /* Of (list $ notThere). */}}
{{- define "countersign.checkLedger" -}}
{{- $root := index . 0 -}}
{{- $notThere := index . 1 -}}
{{- $ledger := $root.Values.ledger -}}
{{- $label := "[a-z0-9]([-a-z0-9]*[a-z0-9])?" -}}
{{- $subdomain := printf "^%s(\\.%s)*$" $label $label -}}
{{- if and $ledger.facts (not $root.Values.components.ledger.enabled) -}}
{{- fail "ledger.facts: there is no ledger to read from; set components.ledger.enabled=true as well" -}}
{{- end -}}
{{- if and $ledger.facts (eq $ledger.mode "off") -}}
{{- fail "ledger.facts: with ledger.mode off nothing is recorded that could be read; write best-effort or required into ledger.mode" -}}
{{- end -}}
{{- $postgres := $ledger.postgres -}}
{{- $replicas := int (include "countersign.settings" (list $root "ledger") | fromJson).replicas -}}
{{- if and $ledger.aggregatedApi (not $root.Values.components.ledger.enabled) -}}
{{- fail "ledger.aggregatedApi: there is no ledger that answers; set components.ledger.enabled=true as well" -}}
{{- end -}}
{{- if and $ledger.aggregatedApi (not $postgres.secret) -}}
{{- fail "ledger.aggregatedApi: while the ledger is away, no namespace of the cluster is deleted, and on a volume it is one pod; name a PostgreSQL in ledger.postgres" -}}
{{- end -}}
{{- if and $ledger.aggregatedApi (lt $replicas 2) -}}
{{- fail "ledger.aggregatedApi: while the ledger is away, no namespace of the cluster is deleted; write 2 into components.ledger.replicas" -}}
{{- end -}}
{{- if and $ledger.aggregatedApi (eq (include "countersign.namespace" $root) "kube-system") -}}
{{- fail "ledger.aggregatedApi: the components are in kube-system, where the ledger has another Role for it; write another namespace" -}}
{{- end -}}
{{- if and (not $postgres.secret) (or $postgres.url $postgres.ownCa) -}}
{{- fail "ledger.postgres.secret: it is empty; name the Secret with the password, or leave url and ownCa out" -}}
{{- end -}}
{{- if and $postgres.secret (not (regexMatch $subdomain $postgres.secret)) -}}
{{- fail (printf "ledger.postgres.secret: \"%s\" is not a valid name of a Secret; write one such as ledger-database" $postgres.secret) -}}
{{- end -}}
{{- range $index, $secret := $ledger.monitoredSecrets -}}
{{- $at := printf "ledger.monitoredSecrets[%d]" $index -}}
{{- include "countersign.checkNamespace" (list (printf "%s.namespace" $at) $secret.namespace) -}}
{{- if has $secret.namespace $notThere -}}
{{- fail (printf "%s.namespace: \"%s\" is for the components, the keys of CAs, or Kubernetes itself; write the namespace of a workload" $at $secret.namespace) -}}
{{- end -}}
{{- range $root.Values.namespacedSigners.secrets -}}
{{- if and (eq .namespace $secret.namespace) (eq .name $secret.name) -}}
{{- fail (printf "%s: %s/%s is the Secret of a CA; name one of a workload" $at .namespace .name) -}}
{{- end -}}
{{- end -}}
{{- if not (regexMatch $subdomain $secret.name) -}}
{{- fail (printf "%s.name: \"%s\" is not a valid name of a Secret; write one such as web-tls" $at $secret.name) -}}
{{- end -}}
{{- end -}}
{{- if and $root.Values.components.ledger.enabled (not $postgres.secret) (gt $replicas 1) -}}
{{- fail (printf "components.ledger.replicas: its volume is for one pod, and %d are wanted; write 1, or name a PostgreSQL in ledger.postgres" $replicas) -}}
{{- end -}}
{{- end -}}
