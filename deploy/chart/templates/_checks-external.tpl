{{- /*
SPDX-License-Identifier: Apache-2.0
What the values of external-signer must not say, with the words of src/install/values/external.ts.
*/}}

{{- /* Of (list values signers). */}}
{{- define "countersign.checkExternal" -}}
{{- $values := index . 0 -}}
{{- $label := "[a-z0-9]([-a-z0-9]*[a-z0-9])?" -}}
{{- $seen := dict -}}
{{- range $index, $name := $values.external.signers -}}
{{- $at := printf "external.signers[%d]" $index -}}
{{- if not (regexMatch (printf "^%s(\\.%s)+/%s(\\.%s)*$" $label $label $label $label) $name) -}}
{{- fail (printf "%s: \"%s\" is no signer name; write <domain>/<path> in lower-case letters, digits and hyphens, such as example.com/workload" $at $name) -}}
{{- end -}}
{{- range $other := index $ 1 -}}
{{- if eq $other.name $name -}}
{{- fail (printf "%s: \"%s\" is also in signers; leave one of them out" $at $name) -}}
{{- end -}}
{{- end -}}
{{- range $values.acme.signers -}}
{{- if eq .name $name -}}
{{- fail (printf "%s: \"%s\" is also in acme.signers; leave one of them out" $at $name) -}}
{{- end -}}
{{- end -}}
{{- if hasKey $seen $name -}}
{{- fail (printf "%s: \"%s\" is named twice; leave one of them out" $at $name) -}}
{{- end -}}
{{- $_ := set $seen $name true -}}
{{- end -}}
{{- end -}}
