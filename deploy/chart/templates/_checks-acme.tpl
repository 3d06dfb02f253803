{{- /*
SPDX-License-Identifier: Apache-2.0
What the values of ACME must not say, with the words of src/install/values/check-acme.ts.
*/}}

{{- define "countersign.checkAcme" -}}
{{- $others := index . 1 -}}
{{- $label := "[a-z0-9]([-a-z0-9]*[a-z0-9])?" -}}
{{- $subdomain := printf "^%s(\\.%s)*$" $label $label -}}
{{- range $index, $signer := (index . 0).signers -}}
{{- $at := printf "acme.signers[%d]" $index -}}
{{- include "countersign.checkSignerName" (list (printf "%s.name" $at) $signer.name) -}}
{{- $secrets := list (printf "%s-account" (splitList "/" $signer.name | last)) -}}
{{- if hasKey $signer "accountSecret" -}}{{- $secrets = list $signer.accountSecret -}}{{- end -}}
{{- if hasKey $signer "externalAccountSecret" -}}{{- $secrets = append $secrets $signer.externalAccountSecret -}}{{- end -}}
{{- range $others -}}
{{- if eq .name $signer.name -}}
{{- fail (printf "%s.name: \"%s\" is also in signers; leave one of them out" $at $signer.name) -}}
{{- end -}}
{{- end -}}
{{- range $name := $secrets -}}
{{- if or (gt (len $name) 253) (not (regexMatch $subdomain $name)) -}}
{{- fail (printf "%s: \"%s\" is not a valid name of a Secret; write one such as public-account" $at $name) -}}
{{- end -}}
{{- $isCa := eq $name "countersign-serving-ca" -}}
{{- range $others -}}{{- if eq .secret $name -}}{{- $isCa = true -}}{{- end -}}{{- end -}}
{{- if $isCa -}}
{{- fail (printf "%s: Secret \"%s\" is that of a CA; write another name" $at $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Of (list name secrets notThere secretsOfCas). */}}
{{- define "countersign.checkPlaces" -}}
{{- $list := index . 0 -}}
{{- $notThere := index . 2 -}}
{{- $label := "[a-z0-9]([-a-z0-9]*[a-z0-9])?" -}}
{{- range $index, $secret := index . 1 -}}
{{- $at := printf "%s[%d]" $list $index -}}
{{- include "countersign.checkNamespace" (list (printf "%s.namespace" $at) $secret.namespace) -}}
{{- if has $secret.namespace $notThere -}}
{{- fail (printf "%s.namespace: \"%s\" is for the components or the keys of CAs; write countersign-dns, or the namespace of the team" $at $secret.namespace) -}}
{{- end -}}
{{- range index $ 3 -}}
{{- if and (eq .namespace $secret.namespace) (eq .name $secret.name) -}}
{{- fail (printf "%s: %s/%s is the Secret of a CA; name another" $at .namespace .name) -}}
{{- end -}}
{{- end -}}
{{- if or (gt (len $secret.name) 253) (not (regexMatch (printf "^%s(\\.%s)*$" $label $label) $secret.name)) -}}
{{- fail (printf "%s.name: \"%s\" is not a valid name of a Secret; write one such as dns-example-com" $at $secret.name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "countersign.checkCalled" -}}
{{- $label := "[a-z0-9]([-a-z0-9]*[a-z0-9])?" -}}
{{- range $index, $text := .dnsWebhooks -}}
{{- $group := splitList "/" $text | first -}}
{{- if or (gt (len $group) 253) (not (regexMatch (printf "^[a-z0-9][-a-z0-9.]*\\.[-a-z0-9.]*[a-z0-9](/%s)?$" $label) $text)) (regexMatch "(^|\\.)(k8s\\.io|kubernetes\\.io|countersign\\.dev|cert-manager\\.io)$" $group) -}}
{{- fail (printf "acme.dnsWebhooks[%d]: \"%s\" is not the API group of a DNS provider; write the groupName that its documentation names" $index $text) -}}
{{- end -}}
{{- end -}}
{{- range $index, $text := .routeMetadata -}}
{{- if not (regexMatch "^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?=[A-Za-z0-9_.:/=,*+@-]{0,1000}$" $text) -}}
{{- fail (printf "acme.routeMetadata[%d]: \"%s\" is not a label or annotation of a route; write example.com/key=value, with letters, digits and _.:/=,*+@- in the value" $index $text) -}}
{{- end -}}
{{- end -}}
{{- range $index, $text := .http01Zones -}}
{{- if not (regexMatch (printf "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?=%s(\\.%s)*$" $label $label) $text) -}}
{{- fail (printf "acme.http01Zones[%d]: \"%s\" is not a namespace and a zone; write team-a=team-a.example.com" $index $text) -}}
{{- end -}}
{{- end -}}
{{- end -}}
