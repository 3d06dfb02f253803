{{- /*
SPDX-License-Identifier: Apache-2.0
What the values of federation must not say, with the words of src/install/values/federation.ts.
*/}}

{{- define "countersign.checkFederation" -}}
{{- $label := "[a-z0-9]([-a-z0-9]*[a-z0-9])?" -}}
{{- $own := .ownTrustDomains -}}
{{- $fetched := list -}}
{{- range .trustDomains -}}{{- $fetched = append $fetched .name -}}{{- end -}}
{{- range $index, $domain := .endedTrustDomains -}}
{{- $at := printf "federation.endedTrustDomains[%d]" $index -}}
{{- if not (regexMatch (printf "^%s(\\.%s)*$" $label $label) $domain) -}}
{{- fail (printf "%s: \"%s\" is not the name of a trust domain; write it without spiffe://, such as partner.example" $at $domain) -}}
{{- end -}}
{{- if has $domain $fetched -}}
{{- fail (printf "%s: \"%s\" is in federation.trustDomains, too; leave one of them out" $at $domain) -}}
{{- end -}}
{{- end -}}
{{- $before := list -}}
{{- range $index, $domain := .trustDomains -}}
{{- $at := printf "federation.trustDomains[%d]" $index -}}
{{- if not (regexMatch (printf "^%s(\\.%s)*$" $label $label) $domain.name) -}}
{{- fail (printf "%s.name: \"%s\" is not the name of a trust domain; write it without spiffe://, such as partner.example" $at $domain.name) -}}
{{- end -}}
{{- if has $domain.name $own -}}
{{- fail (printf "%s.name: \"%s\" is your own trust domain; leave one of them out" $at $domain.name) -}}
{{- end -}}
{{- if has $domain.name $before -}}
{{- fail (printf "%s.name: \"%s\" is named twice; leave one of them out" $at $domain.name) -}}
{{- end -}}
{{- $before = append $before $domain.name -}}
{{- if ne (eq $domain.profile "https_spiffe") (hasKey $domain "serverId") -}}
{{- fail (printf "%s.serverId: write the SPIFFE ID of the endpoint where profile is https_spiffe, and none where it is https_web" $at) -}}
{{- end -}}
{{- end -}}
{{- end -}}
