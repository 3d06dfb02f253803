{{- /*
SPDX-License-Identifier: Apache-2.0
Made from src/install by make chart: do not edit.
*/}}

{{- /* The roles with rules that the release before needs, as JSON. */}}
{{- define "countersign.keptRoles" -}}
{{- $names := include "countersign.names" . | fromJson -}}
{{- $all := list -}}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-approver" "component" "approver" "id" "countersign-approver.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" "default" "name" "countersign-approver" "component" "approver" "id" "countersign-approver.default" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.namespace "name" "countersign-approver" "component" "approver" "id" "countersign-approver.namespace" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-signer" "component" "signer" "id" "countersign-signer.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- if $names.served.requests.secrets }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.keysNamespace "name" "countersign-signer" "component" "signer" "id" "countersign-signer.keys" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- range $team := $names.teams }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $team.namespace "name" "countersign-signer" "component" "signer" "id" "countersign-signer.team" "Values" $.Values "names" $names "team" $team) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" "default" "name" "countersign-signer" "component" "signer" "id" "countersign-signer.default" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.namespace "name" "countersign-signer" "component" "signer" "id" "countersign-signer.namespace" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-pcr-issuer" "component" "pcr-issuer" "id" "countersign-pcr-issuer.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- if $names.served.pods.secrets }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.keysNamespace "name" "countersign-pcr-issuer" "component" "pcr-issuer" "id" "countersign-pcr-issuer.keys" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- range $team := $names.teams }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $team.namespace "name" "countersign-pcr-issuer" "component" "pcr-issuer" "id" "countersign-pcr-issuer.team" "Values" $.Values "names" $names "team" $team) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.namespace "name" "countersign-pcr-issuer" "component" "pcr-issuer" "id" "countersign-pcr-issuer.namespace" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- if get $names.enabled "certificate-request" }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-certificate-request" "component" "certificate-request" "id" "countersign-certificate-request.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if $names.served.certificateRequests.secrets }}
{{- if get $names.enabled "certificate-request" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.keysNamespace "name" "countersign-certificate-request" "component" "certificate-request" "id" "countersign-certificate-request.keys" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- end }}
{{- range $team := $names.teams }}
{{- if get $names.enabled "certificate-request" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $team.namespace "name" "countersign-certificate-request" "component" "certificate-request" "id" "countersign-certificate-request.team" "Values" $.Values "names" $names "team" $team) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- end }}
{{- if get $names.enabled "certificate-request" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.namespace "name" "countersign-certificate-request" "component" "certificate-request" "id" "countersign-certificate-request.namespace" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "external-signer" }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-external-signer" "component" "external-signer" "id" "countersign-external-signer.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "external-signer" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.namespace "name" "countersign-external-signer" "component" "external-signer" "id" "countersign-external-signer.namespace" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-attester" "component" "attester" "id" "countersign-attester.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" "default" "name" "countersign-attester" "component" "attester" "id" "countersign-attester.default" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.namespace "name" "countersign-attester" "component" "attester" "id" "countersign-attester.namespace" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-authority" "component" "authority" "id" "countersign-authority.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.keysNamespace "name" "countersign-authority" "component" "authority" "id" "countersign-authority.keys" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- range $team := $names.teams }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $team.namespace "name" "countersign-authority" "component" "authority" "id" "countersign-authority.team" "Values" $.Values "names" $names "team" $team) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" "default" "name" "countersign-authority" "component" "authority" "id" "countersign-authority.default" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.namespace "name" "countersign-authority" "component" "authority" "id" "countersign-authority.namespace" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- range $team := $names.upstreamPlaces }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $team.namespace "name" "countersign-authority" "component" "authority" "id" "countersign-authority.upstream-place" "Values" $.Values "names" $names "team" $team) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "acme" }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-acme" "component" "acme" "id" "countersign-acme.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if $names.accounts }}
{{- if get $names.enabled "acme" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.keysNamespace "name" "countersign-acme" "component" "acme" "id" "countersign-acme.keys" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- end }}
{{- range $team := $names.acmeTeams }}
{{- if get $names.enabled "acme" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $team.namespace "name" "countersign-acme" "component" "acme" "id" "countersign-acme.acme-team" "Values" $.Values "names" $names "team" $team) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- end }}
{{- if get $names.enabled "acme" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.namespace "name" "countersign-acme" "component" "acme" "id" "countersign-acme.namespace" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "acme-responder" }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-acme-responder" "component" "acme-responder" "id" "countersign-acme-responder.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "acme-solver" }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-acme-solver" "component" "acme-solver" "id" "countersign-acme-solver.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- range $team := $names.dnsPlaces }}
{{- if get $names.enabled "acme-solver" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $team.namespace "name" "countersign-acme-solver" "component" "acme-solver" "id" "countersign-acme-solver.dns-place" "Values" $.Values "names" $names "team" $team) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- end }}
{{- if get $names.enabled "acme-solver" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.namespace "name" "countersign-acme-solver" "component" "acme-solver" "id" "countersign-acme-solver.namespace" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "pod-refresher" }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-pod-refresher" "component" "pod-refresher" "id" "countersign-pod-refresher.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "pod-refresher" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.namespace "name" "countersign-pod-refresher" "component" "pod-refresher" "id" "countersign-pod-refresher.namespace" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "ledger" }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-ledger" "component" "ledger" "id" "countersign-ledger.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "ledger" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" "kube-system" "name" "countersign-ledger" "component" "ledger" "id" "countersign-ledger.kube-system" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "ledger" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.namespace "name" "countersign-ledger" "component" "ledger" "id" "countersign-ledger.namespace" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- range $team := $names.monitoredPlaces }}
{{- if get $names.enabled "ledger" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $team.namespace "name" "countersign-ledger" "component" "ledger" "id" "countersign-ledger.monitored-place" "Values" $.Values "names" $names "team" $team) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- end }}
{{- if get $names.enabled "ledger" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" "default" "name" "countersign-ledger" "component" "ledger" "id" "countersign-ledger.default" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if $names.secrets }}
{{- if get $names.enabled "ledger" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.keysNamespace "name" "countersign-ledger" "component" "ledger" "id" "countersign-ledger.keys" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- end }}
{{- if get $names.enabled "trust-distributor" }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-trust-distributor" "component" "trust-distributor" "id" "countersign-trust-distributor.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- range $team := $names.teams }}
{{- if get $names.enabled "trust-distributor" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $team.namespace "name" "countersign-trust-distributor" "component" "trust-distributor" "id" "countersign-trust-distributor.team" "Values" $.Values "names" $names "team" $team) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- end }}
{{- if get $names.enabled "trust-distributor" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.namespace "name" "countersign-trust-distributor" "component" "trust-distributor" "id" "countersign-trust-distributor.namespace" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "bundle-endpoint" }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-bundle-endpoint" "component" "bundle-endpoint" "id" "countersign-bundle-endpoint.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "federation" }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-federation" "component" "federation" "id" "countersign-federation.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "federation" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" "default" "name" "countersign-federation" "component" "federation" "id" "countersign-federation.default" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "federation" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.namespace "name" "countersign-federation" "component" "federation" "id" "countersign-federation.namespace" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "notifier" }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-notifier" "component" "notifier" "id" "countersign-notifier.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "notifier" }}
{{- with include "countersign.titleIfKept" (dict "kind" "Role" "namespace" $names.namespace "name" "countersign-notifier" "component" "notifier" "id" "countersign-notifier.namespace" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "ledger" }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-ledger-reader" "component" "ledger" "id" "countersign-ledger-reader.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- if get $names.enabled "ledger" }}
{{- with include "countersign.titleIfKept" (dict "kind" "ClusterRole" "namespace" "" "name" "countersign-ledger-client" "component" "ledger" "id" "countersign-ledger-client.cluster" "Values" $.Values "names" $names) }}{{- $all = append $all . }}{{- end }}
{{- end }}
{{- toJson $all -}}
{{- end -}}
