{{- /*
SPDX-License-Identifier: Apache-2.0
What the values keyHolder must not say, with the words of src/install/values/check-key-holder.ts.
*/}}

{{- /* Of (list $ signers). */}}
{{- define "countersign.checkKeyHolders" -}}
{{- $values := (index . 0).Values -}}
{{- $signers := index . 1 -}}
{{- $signing := include "countersign.signing" . | fromJson -}}
{{- $named := list -}}
{{- range $signers -}}{{- $named = append $named .name -}}{{- end -}}
{{- range $component, $given := $values.components -}}
{{- with $given.keyHolder -}}
{{- include "countersign.checkKeyHolder" (list (printf "components.%s.keyHolder" $component) . $named) -}}
{{- end -}}
{{- end -}}
{{- range $index, $signer := $signers -}}
{{- $at := printf "signers[%d]" $index -}}
{{- if and $signer.isHeld $signer.secret -}}
{{- fail (printf "%s.secret: its key is in a key holder, so no Secret has it; leave secret out, or keyHolder" $at) -}}
{{- end -}}
{{- if $signer.isHeld -}}
{{- range $kind := $signer.serves -}}
{{- $component := get $signing $kind -}}
{{- $given := get $values.components $component -}}
{{- $enabled := hasKey $given "enabled" | ternary $given.enabled true -}}
{{- $hasKey := false -}}
{{- range (dig "keyHolder" "keys" list $given) -}}
{{- if has $signer.name .signerNames -}}{{- $hasKey = true -}}{{- end -}}
{{- end -}}
{{- if and $enabled (not $hasKey) -}}
{{- fail (printf "%s.keyHolder: components.%s.keyHolder has no key for \"%s\"; add one, or leave %s out of %s.serves" $at $component $signer.name $kind $at) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Of (list at keyHolder names). */}}
{{- define "countersign.checkKeyHolder" -}}
{{- $at := index . 0 -}}
{{- $named := index . 2 -}}
{{- $names := list -}}
{{- $module := (index . 1).pkcs11 -}}
{{- if hasKey ($module | default dict) "files" -}}
{{- include "countersign.checkHolderSecret" (list (printf "%s.pkcs11.files" $at) $module.files) -}}
{{- end -}}
{{- range $index, $key := (index . 1).keys -}}
{{- $ofKey := printf "%s.keys[%d]" $at $index -}}
{{- if has $key.name $names -}}
{{- fail (printf "%s.name: \"%s\" is named twice; write another name" $ofKey $key.name) -}}
{{- end -}}
{{- $names = append $names $key.name -}}
{{- include "countersign.checkHolderSecret" (list (printf "%s.secret" $ofKey) $key.secret) -}}
{{- if and $key.pkcs11 (not $module) -}}
{{- fail (printf "%s.pkcs11: the key needs %s.pkcs11, which is absent; add it, with the module and its image" $ofKey $at) -}}
{{- end -}}
{{- if and $key.pkcs11 $key.encrypted -}}
{{- fail (printf "%s.encrypted: a key in a token has no passphrase; remove encrypted, or pkcs11" $ofKey) -}}
{{- end -}}
{{- range $which, $signerName := $key.signerNames -}}
{{- if not (has $signerName $named) -}}
{{- fail (printf "%s.signerNames[%d]: \"%s\" is not in signers; add it there, or leave it out" $ofKey $which $signerName) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Of (list at secret). */}}
{{- define "countersign.checkHolderSecret" -}}
{{- $at := index . 0 -}}
{{- $secret := index . 1 -}}
{{- $label := "[a-z0-9]([-a-z0-9]*[a-z0-9])?" -}}
{{- if or (gt (len $secret) 253) (not (regexMatch (printf "^%s(\\.%s)*$" $label $label) $secret)) -}}
{{- fail (printf "%s: \"%s\" is not a valid name of a Secret; write one such as workload-key" $at $secret) -}}
{{- end -}}
{{- if hasPrefix "countersign-" $secret -}}
{{- fail (printf "%s: \"%s\" begins with countersign-, as the Secrets of the components do, which they may read; write another name" $at $secret) -}}
{{- end -}}
{{- end -}}
