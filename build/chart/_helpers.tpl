{{- /*
SPDX-License-Identifier: Apache-2.0
What the templates share. src/install/values does the same in TypeScript, and test/install holds the two together.
*/}}

{{- /* The namespace of the components. */}}
{{- define "countersign.namespace" -}}
{{- if .Values.namespace -}}
{{- .Values.namespace -}}
{{- else if eq .Release.Namespace "default" -}}
countersign-system
{{- else -}}
{{- .Release.Namespace -}}
{{- end -}}
{{- end -}}

{{- /* The image as the kubelet pulls it. */}}
{{- define "countersign.image" -}}
{{- $image := .Values.image -}}
{{- $tag := $image.tag -}}
{{- if and (not $tag) (not $image.digest) -}}
{{- $tag = .Chart.AppVersion -}}
{{- end -}}
{{- $image.repository -}}
{{- with $tag -}}:{{- . -}}{{- end -}}
{{- with $image.digest -}}@{{- . -}}{{- end -}}
{{- end -}}

{{- /* Each signer with its defaults, as JSON: name, bundle, secret, isHeld, serves. */}}
{{- define "countersign.signers" -}}
{{- $all := list -}}
{{- range .Values.signers -}}
{{- $bundle := "primary" -}}
{{- if hasKey . "bundle" -}}{{- $bundle = .bundle -}}{{- end -}}
{{- $isHeld := dig "keyHolder" false . -}}
{{- $secret := $isHeld | ternary "" (printf "%s-ca" (splitList "/" .name | last)) -}}
{{- if hasKey . "secret" -}}{{- $secret = .secret -}}{{- end -}}
{{- $serves := list "pods" "requests" "certificateRequests" -}}
{{- if hasKey . "serves" -}}{{- $serves = .serves -}}{{- end -}}
{{- $all = append $all (dict "name" .name "bundle" $bundle "secret" $secret "isHeld" $isHeld "serves" $serves) -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- /*
Everything that the templates spell out, checked, as JSON. Each of some fifty templates asks for it, and all have one context: the
first one leaves it there for the others, or a thousand signers would take minutes.
*/}}
{{- define "countersign.names" -}}
{{- if not (hasKey . "countersignNames") -}}
{{- $_ := set . "countersignNames" (include "countersign.collectNames" .) -}}
{{- end -}}
{{- get . "countersignNames" -}}
{{- end -}}

{{- define "countersign.collectNames" -}}
{{- include "countersign.check" . -}}
{{- $signers := list -}}
{{- $bundles := list -}}
{{- $table := list -}}
{{- $secrets := list -}}
{{- range include "countersign.signers" . | fromJsonArray -}}
{{- $signers = append $signers .name -}}
{{- if not .isHeld -}}{{- $secrets = append $secrets .secret -}}{{- end -}}
{{- if .bundle -}}
{{- $bundle := printf "%s:%s" (replace "/" ":" .name) .bundle -}}
{{- $bundles = append $bundles $bundle -}}
{{- $table = append $table (dict "bundle" $bundle "signer" .name) -}}
{{- end -}}
{{- end -}}
{{- $enabled := dict -}}
{{- range $component, $default := include "countersign.optional" . | fromJson -}}
{{- $given := get $.Values.components $component -}}
{{- $_ := set $enabled $component (hasKey $given "enabled" | ternary $given.enabled $default) -}}
{{- end -}}
{{- $acme := dict "signers" list "accounts" list "externals" list -}}
{{- $acmeTeams := list -}}
{{- if get $enabled "acme" -}}
{{- $acme = include "countersign.acme" . | fromJson -}}
{{- $acmeTeams = include "countersign.places" .Values.acme.secrets | fromJsonArray -}}
{{- end -}}
{{- $injection := include "countersign.injection" . | fromJson -}}
{{- dict
      "profiles" $injection.profiles
      "environment" $injection.environment
      "acme" (get $enabled "acme")
      "acmeSigners" $acme.signers
      "externalSigners" (get $enabled "external-signer" | ternary .Values.external.signers list)
      "accounts" $acme.accounts
      "externals" $acme.externals
      "acmeTeams" $acmeTeams
      "renewCertificates" (and (get $enabled "acme") .Values.acme.renewCertificates)
      "dnsPlaces" (include "countersign.places" .Values.acme.solverSecrets | fromJsonArray)
      "providers" (include "countersign.providers" .Values.acme.dnsWebhooks | fromJsonArray)
      "routeMetadata" .Values.acme.routeMetadata
      "zoneArgs" (include "countersign.prefixed" (list "--http01-zone=" .Values.acme.http01Zones) | fromJsonArray)
      "serverArgs" (include "countersign.prefixed" (list "--namespaced-server=" .Values.acme.servers) | fromJsonArray)
      "solverArgs" (include "countersign.prefixed" (list "--namespaced-solver=" .Values.acme.solvers) | fromJsonArray)
      "networkArgs" (include "countersign.prefixed" (list "--namespaced-network=" .Values.acme.networks) | fromJsonArray)
      "valuesDigest" (printf "%s %s" .Chart.Version (toJson .Values) | sha256sum | trunc 16)
      "namespace" (include "countersign.namespace" .)
      "keysNamespace" .Values.keysNamespace
      "image" (include "countersign.image" .)
      "signers" $signers
      "signerDomains" .Values.signerDomains
      "bundles" $bundles
      "trustConfigMaps" (include "countersign.trustConfigMaps" $bundles | fromJsonArray)
      "table" $table
      "secrets" $secrets
      "served" (include "countersign.served" . | fromJson)
      "teams" (include "countersign.places" .Values.namespacedSigners.secrets | fromJsonArray)
      "enabled" $enabled
      "monitoredPlaces" (include "countersign.places" .Values.ledger.monitoredSecrets | fromJsonArray)
      "upstreamIssuers" .Values.upstreamIssuers
      "upstreamPlaces" (include "countersign.upstreamPlaces" .Values.upstreamIssuers | fromJsonArray)
      "vault" (include "countersign.vault" (list "--upstream-vault" .Values.upstreamVaults) | fromJson)
      "externalVault" (include "countersign.vault" (list "--vault" .Values.external.vaults) | fromJson)
      "notifierArgs" (include "countersign.notifierArgs" .Values.notifications | fromJsonArray)
      "notifiedPods" .Values.notifications.pods
      "ledgerArgs" (include "countersign.ledgerArgs" .Values.ledger | fromJsonArray)
      "ledger" (and (get $enabled "ledger") (ne .Values.ledger.mode "off"))
      "namespacedSigners" .Values.namespacedSigners.enabled
      "podServices" .Values.podServices
      "caBundles" .Values.caBundles
      "federated" (include "countersign.federated" .Values.federation | fromJsonArray)
      "federationArgs" (include "countersign.federationArgs" .Values.federation | fromJsonArray)
    | toJson -}}
{{- end -}}

{{- /* The namespaces of upstream issuers, each once, as JSON. */}}
{{- define "countersign.upstreamPlaces" -}}
{{- $namespaces := list -}}
{{- range . -}}{{- $namespaces = append $namespaces (first (splitList "/" .)) -}}{{- end -}}
{{- $places := list -}}
{{- range uniq $namespaces -}}{{- $places = append $places (dict "namespace" .) -}}{{- end -}}
{{- toJson $places -}}
{{- end -}}

{{- /* Of (list flag servers): what vaultParts makes (src/install/vault-parts.ts), as JSON. */}}
{{- define "countersign.vault" -}}
{{- $flag := index . 0 -}}
{{- $arguments := list -}}
{{- $sources := list -}}
{{- range $index, $server := index . 1 -}}
{{- $arguments = append $arguments (printf "%s=%s=/run/countersign/vault/%d" $flag $server $index) -}}
{{- $token := dict "audience" $server "expirationSeconds" 600 "path" (toString $index) -}}
{{- $sources = append $sources (dict "serviceAccountToken" $token) -}}
{{- end -}}
{{- $volumes := list -}}
{{- $mounts := list -}}
{{- if $sources -}}
{{- $volumes = append $volumes (dict "name" "vault" "projected" (dict "sources" $sources)) -}}
{{- $mounts = append $mounts (dict "name" "vault" "mountPath" "/run/countersign/vault" "readOnly" true) -}}
{{- end -}}
{{- dict "arguments" $arguments "volumes" $volumes "mounts" $mounts | toJson -}}
{{- end -}}

{{- /* By kind of requests, the names and Secrets of the signers that serve it, as JSON. */}}
{{- define "countersign.served" -}}
{{- $served := dict -}}
{{- range $kind := list "pods" "requests" "certificateRequests" -}}
{{- $signers := list -}}
{{- $secrets := list -}}
{{- range include "countersign.signers" $ | fromJsonArray -}}
{{- if has $kind .serves -}}
{{- $signers = append $signers .name -}}
{{- if not .isHeld -}}{{- $secrets = append $secrets .secret -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- $_ := set $served $kind (dict "signers" $signers "secrets" $secrets) -}}
{{- end -}}
{{- toJson $served -}}
{{- end -}}

{{- /*
The ClusterSigners in the cluster that serve a kind of requests for which their line in signers has no right, as JSON: object, name,
kind, component. Without a cluster there are none.
*/}}
{{- define "countersign.missingKinds" -}}
{{- $all := list -}}
{{- $served := include "countersign.served" . | fromJson -}}
{{- $named := list -}}
{{- range include "countersign.signers" . | fromJsonArray -}}{{- $named = append $named .name -}}{{- end -}}
{{- if .Capabilities.APIVersions.Has "countersign.dev/v1alpha1/ClusterSigner" -}}
{{- range $object := (lookup "countersign.dev/v1alpha1" "ClusterSigner" "" "").items -}}
{{- range $kind, $component := dict "pods" "pcr-issuer" "requests" "signer" "certificateRequests" "certificate-request" -}}
{{- $name := $object.spec.signerName -}}
{{- if and (has $name $named) (hasKey $object.spec $kind) (not (has $name (get $served $kind).signers)) -}}
{{- $all = append $all (dict "object" $object.metadata.name "name" $name "kind" $kind "component" $component) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- /*
Of a role (dict kind namespace name component id Values names team): its rules, and after them those that it has in the cluster
and that the pods of the release before may use. Without a cluster there are none.
*/}}
{{- define "countersign.rules" -}}
{{- include (printf "countersign.rules.%s" .id) . -}}
{{- with include "countersign.keptRules" . | fromJsonArray }}
{{ toYaml . | indent 2 }}
{{- end -}}
{{- end -}}

{{- /* Of a role: the rules that it has in the cluster, that its template lacks, and that a pod may still use, as JSON. */}}
{{- define "countersign.keptRules" -}}
{{- $kept := list -}}
{{- $live := lookup "rbac.authorization.k8s.io/v1" .kind .namespace .name -}}
{{- $wanted := (include (printf "countersign.rules.%s" .id) . | fromYaml).rules -}}
{{- range $rule := $live.rules -}}
{{- $covered := false -}}
{{- range $wanted -}}{{- if include "countersign.covers" (list . $rule) -}}{{- $covered = true -}}{{- end -}}{{- end -}}
{{- if not $covered -}}{{- $kept = append $kept $rule -}}{{- end -}}
{{- end -}}
{{- if and $kept (include "countersign.isRolledOut" .) -}}{{- $kept = list -}}{{- end -}}
{{- toJson $kept -}}
{{- end -}}

{{- /* Of a role: how people name it, if it keeps rules. */}}
{{- define "countersign.titleIfKept" -}}
{{- if include "countersign.keptRules" . | fromJsonArray -}}
{{- .kind }} {{ with .namespace }}{{ . }}/{{ end }}{{ .name -}}
{{- end -}}
{{- end -}}

{{- /* Of (list wide narrow): whether one rule grants all that the other one grants. Without resourceNames it grants every name. */}}
{{- define "countersign.covers" -}}
{{- $wide := index . 0 -}}
{{- $narrow := index . 1 -}}
{{- $covers := or (not $wide.resourceNames) $narrow.resourceNames -}}
{{- if not $wide.resourceNames -}}{{- $wide = omit $wide "resourceNames" -}}{{- end -}}
{{- range $list := list "apiGroups" "resources" "verbs" "nonResourceURLs" "resourceNames" -}}
{{- if or (ne $list "resourceNames") $wide.resourceNames -}}
{{- range get $narrow $list | default list -}}
{{- if not (has . (get $wide $list | default list)) -}}{{- $covers = false -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $covers -}}true{{- end -}}
{{- end -}}

{{- /*
Of a role: whether every pod of its component is of these very values, so that no pod changes and none is of a release before, also
not one that is ending.
A Deployment of a first installation has no digest: then the next upgrade keeps what it finds.
*/}}
{{- define "countersign.isRolledOut" -}}
{{- $live := lookup "apps/v1" "Deployment" .names.namespace (printf "countersign-%s" .component) -}}
{{- if $live -}}
{{- $status := $live.status | default dict -}}
{{- $old := sub (int $status.replicas) (int $status.updatedReplicas) | add (int $status.terminatingReplicas) -}}
{{- $same := eq (dig "metadata" "annotations" "countersign.dev/values-digest" "" $live) .names.valuesDigest -}}
{{- $seen := ge (int64 $status.observedGeneration) (int64 $live.metadata.generation) -}}
{{- if and $same $seen (le $old 0) -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Of a list of Secrets: each namespace with the names of its Secrets, as JSON. */}}
{{- define "countersign.places" -}}
{{- $all := list -}}
{{- $namespaces := list -}}
{{- $secrets := . -}}
{{- range $secrets -}}{{- $namespaces = append $namespaces .namespace -}}{{- end -}}
{{- range $place := uniq $namespaces -}}
{{- $found := list -}}
{{- range $secrets -}}
{{- if eq .namespace $place -}}{{- $found = append $found .name -}}{{- end -}}
{{- end -}}
{{- $all = append $all (dict "namespace" $place "secrets" (uniq $found)) -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- /* Of a list of <groupName> or <groupName>/<solverName>: group and solver of each, as JSON. */}}
{{- define "countersign.providers" -}}
{{- $all := list -}}
{{- range . -}}
{{- $solver := "*" -}}
{{- if contains "/" . -}}{{- $solver = splitList "/" . | last -}}{{- end -}}
{{- $all = append $all (dict "group" (splitList "/" . | first) "solver" $solver) -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- /* Each AcmeClusterSigner with its Secrets, as JSON: lists of signers, accounts and externals. */}}
{{- define "countersign.acme" -}}
{{- $signers := list -}}
{{- $accounts := list -}}
{{- $externals := list -}}
{{- range .Values.acme.signers -}}
{{- $signers = append $signers .name -}}
{{- $account := printf "%s-account" (splitList "/" .name | last) -}}
{{- if hasKey . "accountSecret" -}}{{- $account = .accountSecret -}}{{- end -}}
{{- $accounts = append $accounts $account -}}
{{- if hasKey . "externalAccountSecret" -}}{{- $externals = append $externals .externalAccountSecret -}}{{- end -}}
{{- end -}}
{{- dict "signers" $signers "accounts" $accounts "externals" $externals | toJson -}}
{{- end -}}

{{- /* The profiles of injection with their defaults, and all their environment variables, as JSON. */}}
{{- define "countersign.injection" -}}
{{- $given := .Values.injection.profiles -}}
{{- if not $given -}}
{{- range .Values.signers -}}
{{- if hasKey . "bundle" | ternary .bundle "primary" -}}
{{- $given = append $given (dict "name" (splitList "/" .name | last | replace "." "-") "signerName" .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $profiles := list -}}
{{- $environment := list -}}
{{- if .Values.injection.enabled -}}
{{- if not $given -}}
{{- fail "injection.profiles: it is empty, and no signer has a bundle; name at least one profile" -}}
{{- end -}}
{{- range $index, $profile := $given -}}
{{- if not $profile -}}
{{- fail (printf "injection.profiles[%d]: it is empty, since --set replaces the whole list; write all profiles into a file for --values, or set injection.profiles[%d].name as well" $index $index) -}}
{{- end -}}
{{- $at := printf "injection.profiles[%d]" $index -}}
{{- $name := $profile.name -}}
{{- if not (regexMatch "^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$" $name) -}}
{{- fail (printf "%s.name: \"%s\" is not a valid name; write profiles with names of at most 40 lower-case letters, digits and hyphens" $at $name) -}}
{{- end -}}
{{- $path := $profile.mountPath | default (printf "/var/run/secrets/countersign.dev/%s" $name) -}}
{{- $bundle := hasKey $profile "trustBundle" | ternary $profile.trustBundle true -}}
{{- range $profiles -}}
{{- if eq .name $name -}}
{{- fail (printf "%s.name: \"%s\" is named twice; write another name" $at $name) -}}
{{- end -}}
{{- if or (hasPrefix (printf "%s/" .mountPath) (printf "%s/" $path)) (hasPrefix (printf "%s/" $path) (printf "%s/" .mountPath)) -}}
{{- fail (printf "%s.mountPath: \"%s\" and \"%s\" are one inside the other; write another path" $at $path .mountPath) -}}
{{- end -}}
{{- end -}}
{{- $prefix := printf "COUNTERSIGN_%s" (upper (replace "-" "_" $name)) -}}
{{- $env := list (dict "name" (printf "%s_CREDENTIALS" $prefix) "file" "credentials.pem") -}}
{{- if $bundle -}}
{{- $env = append $env (dict "name" (printf "%s_TRUST_BUNDLE" $prefix) "file" "trust-bundle.pem") -}}
{{- end -}}
{{- range concat $env ($profile.env | default list) -}}
{{- $variable := .name -}}
{{- range $environment -}}
{{- if eq .name $variable -}}
{{- fail (printf "%s.env: \"%s\" is set twice; write another name" $at $variable) -}}
{{- end -}}
{{- end -}}
{{- $environment = append $environment (dict "profile" $name "name" $variable "value" (printf "%s/%s" $path .file)) -}}
{{- end -}}
{{- $profiles = append $profiles (dict
      "name" $name
      "signerName" $profile.signerName
      "keyType" ($profile.keyType | default "ECDSAP256")
      "seconds" (printf "%d" (int64 ($profile.maxExpirationSeconds | default 86400)))
      "mountPath" $path
      "trustBundle" (printf "%t" $bundle)) -}}
{{- end -}}
{{- end -}}
{{- dict "profiles" $profiles "environment" $environment | toJson -}}
{{- end -}}

{{- /* The names of the ConfigMaps of bundles, as JSON. */}}
{{- define "countersign.trustConfigMaps" -}}
{{- $all := list -}}
{{- range . -}}{{- $all = append $all (replace ":" "." .) -}}{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- /* Of (list prefix texts): each text after the prefix, as JSON. */}}
{{- define "countersign.prefixed" -}}
{{- $prefix := index . 0 -}}
{{- $all := list -}}
{{- range index . 1 -}}{{- $all = append $all (printf "%s%s" $prefix .) -}}{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- /* Of .Values.ledger: the arguments that ledgerOf makes (src/install/values/plan.ts). */}}
{{- define "countersign.ledgerArgs" -}}
{{- $directory := "/run/countersign/checkpoints" -}}
{{- $database := "/run/countersign/database" -}}
{{- $all := list -}}
{{- if .postgres.secret -}}
{{- if .postgres.url -}}
{{- $all = append $all (printf "--database=%s" .postgres.url) -}}
{{- $all = append $all (printf "--database-password=%s/password" $database) -}}
{{- else -}}
{{- $all = append $all (printf "--database-url=%s/url" $database) -}}
{{- end -}}
{{- if .postgres.ownCa -}}{{- $all = append $all (printf "--database-ca=%s/ca.crt" $database) -}}{{- end -}}
{{- end -}}
{{- $before := len $all -}}
{{- with .checkpoints -}}
{{- with .webhook -}}{{- $all = append $all (printf "--checkpoint-webhook=%s" .) -}}{{- end -}}
{{- if .signWebhook -}}{{- $all = append $all (printf "--checkpoint-webhook-secret=%s/webhook-secret" $directory) -}}{{- end -}}
{{- if .objectStore -}}{{- $all = append $all (printf "--checkpoint-object=%s/object-url" $directory) -}}{{- end -}}
{{- range .witnesses -}}{{- $all = append $all (printf "--witness=%s" .) -}}{{- end -}}
{{- if .ownCa -}}{{- $all = append $all (printf "--checkpoint-ca=%s/ca.crt" $directory) -}}{{- end -}}
{{- if gt (len $all) $before -}}{{- $all = append $all (printf "--checkpoint-interval=%s" .interval) -}}{{- end -}}
{{- end -}}
{{- with .retention -}}{{- $all = append $all (printf "--retention=%s" .) -}}{{- end -}}
{{- range .omit -}}{{- $all = append $all (printf "--omit=%s" .) -}}{{- end -}}
{{- range .monitoredSecrets -}}{{- $all = append $all (printf "--monitored-secret=%s/%s" .namespace .name) -}}{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- /*
Of rules of a NetworkPolicy: the same as JSON, each port with its protocol. The API server fills in
TCP, and another field manager would conflict with a list that does not name it.
*/}}
{{- define "countersign.egress" -}}
{{- $all := list -}}
{{- range . -}}
{{- $rule := deepCopy . -}}
{{- if kindIs "slice" $rule.ports -}}
{{- $ports := list -}}
{{- range $rule.ports -}}
{{- if kindIs "map" . -}}
{{- $ports = append $ports (merge (dict) . (dict "protocol" "TCP")) -}}
{{- else -}}
{{- $ports = append $ports . -}}
{{- end -}}
{{- end -}}
{{- $rule = merge (dict "ports" $ports) (omit $rule "ports") -}}
{{- end -}}
{{- $all = append $all $rule -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- /* Of .Values.federation: the names of the bundles, as JSON. */}}
{{- define "countersign.federated" -}}
{{- $all := list -}}
{{- range .trustDomains -}}{{- $all = append $all (printf "federated.%s" .name) -}}{{- end -}}
{{- range .endedTrustDomains -}}{{- $all = append $all (printf "federated.%s" .) -}}{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- /* Of .Values.federation: the arguments that federationArguments makes (src/install/values/federation.ts). */}}
{{- define "countersign.federationArgs" -}}
{{- $all := list -}}
{{- range .trustDomains -}}
{{- $how := list .name .profile -}}
{{- if hasKey . "serverId" -}}{{- $how = append $how .serverId -}}{{- end -}}
{{- $all = append $all (printf "--federate=%s" (join "," (append $how .url))) -}}
{{- end -}}
{{- range .endedTrustDomains -}}{{- $all = append $all (printf "--ended-trust-domain=%s" .) -}}{{- end -}}
{{- range .ownTrustDomains -}}{{- $all = append $all (printf "--own-trust-domain=%s" .) -}}{{- end -}}
{{- range .networks -}}{{- $all = append $all (printf "--federation-network=%s" .) -}}{{- end -}}
{{- toJson (append $all (printf "--keep=%s" .keep)) -}}
{{- end -}}

{{- /* Of .Values.notifications: the arguments that notificationArguments makes. */}}
{{- define "countersign.notifierArgs" -}}
{{- $all := list -}}
{{- range .targets -}}
{{- $name := .name -}}
{{- $all = append $all (printf "--target=%s=%s" $name .url) -}}
{{- with .events -}}{{- $all = append $all (printf "--target-events=%s=%s" $name (join "," .)) -}}{{- end -}}
{{- with .handshake -}}{{- $all = append $all (printf "--handshake=%s=%s" $name .) -}}{{- end -}}
{{- end -}}
{{- range .networks -}}{{- $all = append $all (printf "--target-network=%s" .) -}}{{- end -}}
{{- if .ownCa -}}{{- $all = append $all "--target-ca=/run/countersign/notifier/ca.crt" -}}{{- end -}}
{{- with .source -}}{{- $all = append $all (printf "--source=%s" .) -}}{{- end -}}
{{- $all = append $all (printf "--expiring=%s" .expiring) -}}
{{- $all = append $all (printf "--target-rate=%v" .rate) -}}
{{- toJson $all -}}
{{- end -}}

{{- /*
Of the value keyHolder of a component: the parts of its sidecar that src/install/key-holder-sidecar.ts makes, as JSON: args, sources,
resources, env, volumes, mounts. Its texts have no character that JSON escapes.
*/}}
{{- define "countersign.keyHolder" -}}
{{- $module := .pkcs11 | default dict -}}
{{- $constants := include "countersign.keyHolderConstants" . | fromJson -}}
{{- $keys := list -}}
{{- $uses := list -}}
{{- $sources := list -}}
{{- range .keys -}}
{{- $directory := printf "%s/%s" $constants.keysDirectory .name -}}
{{- $files := list "ca.key" "ca.crt" -}}
{{- $key := dict "name" .name "file" (printf "%s/ca.key" $directory) "certificate" (printf "%s/ca.crt" $directory) "signerNames" .signerNames -}}
{{- if .pkcs11 -}}
{{- $files = list "ca.crt" "pin" -}}
{{- $_ := unset $key "file" -}}
{{- $_ := set $key "pkcs11" (merge (dict "module" $module.module "pinFile" (printf "%s/pin" $directory)) .pkcs11) -}}
{{- end -}}
{{- if .encrypted -}}
{{- $files = append $files "passphrase" -}}
{{- $_ := set $key "passphraseFile" (printf "%s/passphrase" $directory) -}}
{{- end -}}
{{- $keys = append $keys $key -}}
{{- $uses = append $uses (dict "key" .name "leaf" .leaf) -}}
{{- $items := list -}}
{{- $name := .name -}}
{{- range $files -}}{{- $items = append $items (dict "key" . "path" (printf "%s/%s" $name .)) -}}{{- end -}}
{{- $sources = append $sources (dict "secret" (dict "name" .secret "items" $items)) -}}
{{- end -}}
{{- $sockets := list (dict "path" $constants.socket "uses" $uses) -}}
{{- $file := dict "apiVersion" $constants.apiVersion "kind" $constants.kind "keys" $keys "sockets" $sockets -}}
{{- $volumes := list -}}
{{- $mounts := list -}}
{{- with $module.files -}}
{{- $volumes = append $volumes (dict "name" "key-holder-module" "secret" (dict "secretName" . "defaultMode" $constants.mode)) -}}
{{- $mounts = append $mounts (dict "name" "key-holder-module" "mountPath" $constants.moduleDirectory "readOnly" true) -}}
{{- end -}}
{{- $measured := ternary $constants.tokenResources $constants.resources (hasKey . "pkcs11") -}}
{{- $resources := include "countersign.merged" (list $measured (.resources | default dict)) | fromJson -}}
{{- dict "args" (list (printf "--configuration=%s" (toJson $file))) "sources" $sources "resources" $resources "env" ($module.env | default list) "volumes" $volumes "mounts" $mounts | toJson -}}
{{- end -}}

{{- /* Names as a list of strings in CEL. They are checked: nothing in them needs escaping. */}}
{{- define "countersign.quoted" -}}
{{- range $index, $name := . -}}
{{- if $index }}, {{ end -}}'{{ $name }}'
{{- end -}}
{{- end -}}

{{- /* Of (list $ component): what it is described with, under .Values.defaults, under its own, as JSON. */}}
{{- define "countersign.settings" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $described := include "countersign.described" . | fromJson -}}
{{- $common := include "countersign.merged" (list (get $described $component) $root.Values.defaults) | fromJson -}}
{{- $settings := include "countersign.merged" (list $common (get $root.Values.components $component)) | fromJson -}}
{{- with $settings.topologySpreadConstraints -}}
{{- $labels := dict "app.kubernetes.io/name" "countersign" "app.kubernetes.io/component" $component -}}
{{- $spread := list -}}
{{- range . -}}
{{- if not (hasKey . "labelSelector") -}}{{- $_ := set . "labelSelector" (dict "matchLabels" $labels) -}}{{- end -}}
{{- $spread = append $spread . -}}
{{- end -}}
{{- $_ := set $settings "topologySpreadConstraints" $spread -}}
{{- end -}}
{{- toJson $settings -}}
{{- end -}}

{{- /* Of a component's settings: what podIds makes (src/install/pod-confinement.ts), as JSON. */}}
{{- define "countersign.podIds" -}}
{{- $given := .podSecurityContext | default dict -}}
{{- $ids := omit $given "fsGroup" -}}
{{- $group := dig "fsGroup" "" $given | default (dig "runAsGroup" 0 $given) | default (dig "runAsUser" 0 $given) -}}
{{- if and (not $group) .keyHolder -}}{{- $group = 65532 -}}{{- end -}}
{{- if and $group (ne (toString $group) "none") -}}{{- $_ := set $ids "fsGroup" $group -}}{{- end -}}
{{- toJson $ids -}}
{{- end -}}

{{- /* Of (list under over): over wins, key by key in objects. mergeOverwrite would keep 2 where over has 0. */}}
{{- define "countersign.merged" -}}
{{- $merged := deepCopy (index . 0) -}}
{{- range $key, $value := index . 1 -}}
{{- $under := get $merged $key -}}
{{- if and (kindIs "map" $value) (kindIs "map" $under) -}}
{{- $_ := set $merged $key (include "countersign.merged" (list $under $value) | fromJson) -}}
{{- else -}}
{{- $_ := set $merged $key $value -}}
{{- end -}}
{{- end -}}
{{- toJson $merged -}}
{{- end -}}

{{- /* Whether the ClusterSigner of our own ports is not there yet, or Helm's; one that somebody applied stays theirs. */}}
{{- define "countersign.ownsServingSigner" -}}
{{- $there := lookup "countersign.dev/v1alpha1" "ClusterSigner" "" "serving" -}}
{{- if eq (dig "metadata" "labels" "app.kubernetes.io/managed-by" ($there | empty | ternary "Helm" "") $there) "Helm" -}}
true
{{- end -}}
{{- end -}}

{{- /* The components that may be left out, and whether they are there where nothing is said, as JSON. */}}
{{- define "countersign.optional" -}}
@OPTIONAL@
{{- end -}}

{{- /* Replicas and resources of each component, as JSON. */}}
{{- define "countersign.described" -}}
@DESCRIBED@
{{- end -}}

{{- /* The component that signs for each kind of requests, as JSON. */}}
{{- define "countersign.signing" -}}
@SIGNING@
{{- end -}}

{{- /* Paths and defaults of key holders, as JSON. */}}
{{- define "countersign.keyHolderConstants" -}}
@KEY_HOLDER@
{{- end -}}
