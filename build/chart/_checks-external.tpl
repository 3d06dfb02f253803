{{- /*
SPDX-License-Identifier: Apache-2.0
What the values of external-signer must not say, with the words of src/install/values/external.ts.
*/}}

{{- /* Of (list values signers). */}}
{{- define "countersign.checkExternal" -}}
{{- $values := index . 0 -}}
{{- $seen := dict -}}
{{- range $index, $name := $values.external.signers -}}
{{- $at := printf "external.signers[%d]" $index -}}
{{- include "countersign.checkSignerName" (list $at $name) -}}
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
