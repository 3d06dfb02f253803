{{- /*
SPDX-License-Identifier: Apache-2.0
What values.schema.json cannot say, with the words of src/install/values/check.ts. Nothing is installed when one fails.
*/}}

{{- define "countersign.check" -}}
{{- $values := .Values -}}
{{- $namespace := include "countersign.namespace" . -}}
{{- if regexMatch "[:@][^/]*$" $values.image.repository -}}
{{- fail (printf "image.repository: \"%s\" has a tag or a digest; write it into image.tag or image.digest" $values.image.repository) -}}
{{- end -}}
{{- $servesExternal := and (index $values.components "external-signer").enabled $values.external.signers -}}
{{- if not (or $values.signers $values.namespacedSigners.enabled (and $values.components.acme.enabled $values.acme.signers) $servesExternal) -}}
{{- fail "signers: it is empty; name at least one, as in --set 'signers[0].name=example.com/workload', or for ACME alone set components.acme.enabled=true and name one in acme.signers" -}}
{{- end -}}
{{- range $index, $signer := $values.signers -}}
{{- if not $signer -}}
{{- fail (printf "signers[%d]: it is empty, since --set replaces the whole list; write all signers into a file for --values, or set signers[%d].name as well" $index $index) -}}
{{- end -}}
{{- end -}}
{{- include "countersign.checkNamespace" (list "namespace" $namespace) -}}
{{- include "countersign.checkNamespace" (list "keysNamespace" $values.keysNamespace) -}}
{{- if eq $values.keysNamespace $namespace -}}
{{- fail (printf "keysNamespace: \"%s\" is the namespace of the components; write another one: a user who may create Secrets beside ServiceAccounts can mint their tokens" $values.keysNamespace) -}}
{{- end -}}
{{- if eq $values.keysNamespace "kube-system" -}}
{{- fail (printf "keysNamespace: \"%s\" is for Kubernetes itself; write another one: a user who may create Secrets beside ServiceAccounts can mint their tokens" $values.keysNamespace) -}}
{{- end -}}
{{- $signers := include "countersign.signers" . | fromJsonArray -}}
{{- $names := dict -}}
{{- $secrets := dict -}}
{{- range $index, $signer := $signers -}}
{{- include "countersign.checkSigner" (list $index $signer $names $secrets $values.keysNamespace) -}}
{{- $_ := set $names $signer.name $index -}}
{{- if not $signer.isHeld -}}{{- $_ := set $secrets $signer.secret $index -}}{{- end -}}
{{- end -}}
{{- include "countersign.checkDomains" (list $values.signerDomains $signers) -}}
{{- include "countersign.checkKeyHolders" (list . $signers) -}}
{{- include "countersign.checkTeams" (list $values.namespacedSigners (list $namespace $values.keysNamespace)) -}}
{{- include "countersign.checkAcme" (list $values.acme $signers) -}}
{{- if and $values.acme.secrets (not $values.namespacedSigners.enabled) -}}
{{- fail "acme.secrets: they are for AcmeSigners; set namespacedSigners.enabled=true as well" -}}
{{- end -}}
{{- $notThere := list $namespace $values.keysNamespace -}}
{{- include "countersign.checkPlaces" (list "acme.secrets" $values.acme.secrets $notThere $values.namespacedSigners.secrets) -}}
{{- include "countersign.checkPlaces" (list "acme.solverSecrets" $values.acme.solverSecrets $notThere $values.namespacedSigners.secrets) -}}
{{- include "countersign.checkCalled" $values.acme -}}
{{- include "countersign.checkLedger" (list . (append $notThere "kube-system")) -}}
{{- include "countersign.checkFederation" $values.federation -}}
{{- include "countersign.checkUpstreams" (list $values (append $notThere "kube-system")) -}}
{{- include "countersign.checkVaults" (list "upstreamVaults" $values.upstreamVaults) -}}
{{- include "countersign.checkExternal" (list $values $signers) -}}
{{- include "countersign.checkVaults" (list "external.vaults" $values.external.vaults) -}}
{{- include "countersign.checkQuantities" $values -}}
{{- if and $values.networkPolicy.enabled (not $values.networkPolicy.from) -}}
{{- fail "networkPolicy.from: it is empty, which would admit every peer; name at least one, or write namespaceSelector: {} to admit all pods" -}}
{{- end -}}
{{- end -}}

{{- /* Of (list name servers). */}}
{{- define "countersign.checkVaults" -}}
{{- $name := index . 0 -}}
{{- $seen := dict -}}
{{- range $index, $server := index . 1 -}}
{{- if hasKey $seen $server -}}
{{- fail (printf "%s[%d]: \"%s\" is listed twice; leave one of them out" $name $index $server) -}}
{{- end -}}
{{- $_ := set $seen $server true -}}
{{- end -}}
{{- end -}}

{{- define "countersign.checkUpstreams" -}}
{{- $values := index . 0 -}}
{{- $notThere := index . 1 -}}
{{- range $values.namespacedSigners.secrets -}}{{- $notThere = append $notThere .namespace -}}{{- end -}}
{{- range $index, $issuer := $values.upstreamIssuers -}}
{{- $at := printf "upstreamIssuers[%d]" $index -}}
{{- $namespace := first (splitList "/" $issuer) -}}
{{- include "countersign.checkNamespace" (list $at $namespace) -}}
{{- if has $namespace $notThere -}}
{{- fail (printf "%s: \"%s\" is for the components, the keys of CAs, a Signer, or Kubernetes itself; write another namespace for the requests" $at $namespace) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Of (list index signer names secrets keysNamespace); names and secrets are those of the signers before it, by index. */}}
{{- define "countersign.checkSigner" -}}
{{- $at := printf "signers[%d]" (index . 0) -}}
{{- $signer := index . 1 -}}
{{- $names := index . 2 -}}
{{- $secrets := index . 3 -}}
{{- $keys := index . 4 -}}
{{- $label := "[a-z0-9]([-a-z0-9]*[a-z0-9])?" -}}
{{- $subdomain := printf "^%s(\\.%s)*$" $label $label -}}
{{- include "countersign.checkSignerName" (list (printf "%s.name" $at) $signer.name) -}}
{{- if hasKey $names $signer.name -}}
{{- fail (printf "%s.name: \"%s\" is named twice; leave one of them out" $at $signer.name) -}}
{{- end -}}
{{- if and $signer.bundle (not (regexMatch $subdomain $signer.bundle)) -}}
{{- fail (printf "%s.bundle: \"%s\" is not a valid name; write one such as primary" $at $signer.bundle) -}}
{{- end -}}
{{- if not $signer.isHeld -}}
{{- include "countersign.checkSignerSecret" (list $at $signer $secrets $keys) -}}
{{- end -}}
{{- end -}}

{{- /* Of (list at name). */}}
{{- define "countersign.checkSignerName" -}}
{{- $at := index . 0 -}}
{{- $name := index . 1 -}}
{{- $label := "[a-z0-9]([-a-z0-9]*[a-z0-9])?" -}}
{{- $parts := splitList "/" $name -}}
{{- $domain := first $parts -}}
{{- $isLong := or (gt (len $name) 571) (gt (len $domain) 253) -}}
{{- range splitList "." $domain -}}{{- if gt (len .) 63 -}}{{- $isLong = true -}}{{- end -}}{{- end -}}
{{- range splitList "." (last $parts) -}}{{- if gt (len .) 253 -}}{{- $isLong = true -}}{{- end -}}{{- end -}}
{{- if or $isLong (not (regexMatch (printf "^%s(\\.%s)+/%s(\\.%s)*$" $label $label $label $label) $name)) -}}
{{- fail (printf "%s: \"%s\" is no signer name; write <domain>/<path> in lower-case letters, digits and hyphens, such as example.com/workload" $at $name) -}}
{{- end -}}
{{- if or (eq $domain "kubernetes.io") (hasSuffix ".kubernetes.io" $domain) -}}
{{- fail (printf "%s: \"%s\" is in a domain reserved for Kubernetes; write one in a domain of your own" $at $name) -}}
{{- end -}}
{{- if eq $domain "signers.countersign.dev" -}}
{{- fail (printf "%s: \"%s\" is the derived name of a Signer; set namespacedSigners.enabled=true instead" $at $name) -}}
{{- end -}}
{{- if eq $domain "acmesigners.acme.countersign.dev" -}}
{{- fail (printf "%s: \"%s\" is the derived name of an AcmeSigner; set namespacedSigners.enabled=true instead" $at $name) -}}
{{- end -}}
{{- if eq $name "countersign.dev/serving" -}}
{{- fail (printf "%s: \"%s\" is always served; leave it out" $at $name) -}}
{{- end -}}
{{- end -}}

{{- /* Of (list at signer secrets keysNamespace). */}}
{{- define "countersign.checkSignerSecret" -}}
{{- $at := index . 0 -}}
{{- $signer := index . 1 -}}
{{- $secrets := index . 2 -}}
{{- $keys := index . 3 -}}
{{- $label := "[a-z0-9]([-a-z0-9]*[a-z0-9])?" -}}
{{- $subdomain := printf "^%s(\\.%s)*$" $label $label -}}
{{- if contains "/" $signer.secret -}}
{{- fail (printf "%s.secret: \"%s\" names a namespace; write the name alone: all CA Secrets are in keysNamespace, %s" $at $signer.secret $keys) -}}
{{- end -}}
{{- if or (gt (len $signer.secret) 253) (not (regexMatch $subdomain $signer.secret)) -}}
{{- fail (printf "%s.secret: \"%s\" is not a valid name of a Secret; write one such as workload-ca" $at $signer.secret) -}}
{{- end -}}
{{- if eq $signer.secret "countersign-serving-ca" -}}
{{- fail (printf "%s.secret: \"%s\" is that of the components' own CA; write another name" $at $signer.secret) -}}
{{- end -}}
{{- if hasKey $secrets $signer.secret -}}
{{- fail (printf "%s.secret: \"%s\" is also that of signers[%d], and a CA serves one signer; write another name into %s.secret" $at $signer.secret (get $secrets $signer.secret) $at) -}}
{{- end -}}
{{- end -}}

{{- define "countersign.checkDomains" -}}
{{- $signers := index . 1 -}}
{{- $label := "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?" -}}
{{- range $domain := index . 0 -}}
{{- if or (gt (len $domain) 253) (not (regexMatch (printf "^%s(\\.%s)+$" $label $label) $domain)) -}}
{{- fail (printf "signer domain \"%s\" is not a domain; write it without a path and without a wildcard, such as example.com" $domain) -}}
{{- end -}}
{{- if regexMatch "^(.+\\.)?(kubernetes\\.io|k8s\\.io|countersign\\.dev)$" $domain -}}
{{- fail (printf "signer domain \"%s\" has signers that are not yours; write a domain of your own" $domain) -}}
{{- end -}}
{{- $served := false -}}
{{- range $signers -}}{{- if hasPrefix (printf "%s/" $domain) .name -}}{{- $served = true -}}{{- end -}}{{- end -}}
{{- if not $served -}}
{{- fail (printf "signer domain \"%s\" has none of the signers that are named; name one, such as %s/workload, or leave the domain out" $domain $domain) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "countersign.checkTeams" -}}
{{- $signers := index . 0 -}}
{{- $notThere := index . 1 -}}
{{- if and $signers.secrets (not $signers.enabled) -}}
{{- fail "namespacedSigners.secrets: they are for Signers; set namespacedSigners.enabled=true as well" -}}
{{- end -}}
{{- $label := "[a-z0-9]([-a-z0-9]*[a-z0-9])?" -}}
{{- range $index, $secret := $signers.secrets -}}
{{- $at := printf "namespacedSigners.secrets[%d]" $index -}}
{{- include "countersign.checkNamespace" (list (printf "%s.namespace" $at) $secret.namespace) -}}
{{- if has $secret.namespace $notThere -}}
{{- fail (printf "%s.namespace: no Signer is in \"%s\"; write the namespace of the team" $at $secret.namespace) -}}
{{- end -}}
{{- if not (regexMatch (printf "^%s(\\.%s)*$" $label $label) $secret.name) -}}
{{- fail (printf "%s.name: \"%s\" is not a valid name of a Secret; write one such as team-ca" $at $secret.name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "countersign.checkNamespace" -}}
{{- $at := index . 0 -}}
{{- $namespace := index . 1 -}}
{{- if not (regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" $namespace) -}}
{{- fail (printf "%s: \"%s\" is not a valid name of a namespace; write lower-case letters, digits and hyphens" $at $namespace) -}}
{{- end -}}
{{- if eq $namespace "default" -}}
{{- fail (printf "%s: \"default\" is shared; write a separate namespace" $at) -}}
{{- end -}}
{{- end -}}

{{- /* Of (list $ name versions): refuses a CustomResourceDefinition of the cluster that is newer than ours. */}}
{{- define "countersign.checkDefinition" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $versions := index . 2 -}}
{{- $there := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $name -}}
{{- if $there -}}
{{- $made := dig "metadata" "labels" "app.kubernetes.io/version" "0.0.0" $there -}}
{{- if semverCompare (printf "> %s" $root.Chart.AppVersion) $made -}}
{{- fail (printf "CustomResourceDefinition %s is there in version %s, and this chart has %s: fields that it does not know would be lost; install a chart of version %s or newer, or set crds.install=false" $name $made $root.Chart.AppVersion $made) -}}
{{- end -}}
{{- range $there.spec.versions -}}
{{- if not (has .name $versions) -}}
{{- fail (printf "CustomResourceDefinition %s is there with version %s, which this chart (%s) does not know: install a newer chart, or set crds.install=false" $name .name $root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
