{{- /*
SPDX-License-Identifier: Apache-2.0
What the templates share. src/manifests/values does the same in TypeScript, and test/install holds the two together.
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

{{- /* Each signer with its defaults, as JSON: name, bundle, secret. */}}
{{- define "countersign.signers" -}}
{{- $all := list -}}
{{- range .Values.signers -}}
{{- $bundle := "primary" -}}
{{- if hasKey . "bundle" -}}{{- $bundle = .bundle -}}{{- end -}}
{{- $secret := printf "%s-ca" (splitList "/" .name | last) -}}
{{- if hasKey . "secret" -}}{{- $secret = .secret -}}{{- end -}}
{{- $all = append $all (dict "name" .name "bundle" $bundle "secret" $secret) -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- /* Everything that the templates spell out, checked, as JSON. */}}
{{- define "countersign.names" -}}
{{- include "countersign.check" . -}}
{{- $signers := list -}}
{{- $bundles := list -}}
{{- $table := list -}}
{{- $secrets := list -}}
{{- range include "countersign.signers" . | fromJsonArray -}}
{{- $signers = append $signers .name -}}
{{- $secrets = append $secrets .secret -}}
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
      "accounts" $acme.accounts
      "externals" $acme.externals
      "acmeTeams" $acmeTeams
      "renewCertificates" (and (get $enabled "acme") .Values.acme.renewCertificates)
      "dnsPlaces" (include "countersign.places" .Values.acme.solverSecrets | fromJsonArray)
      "providers" (include "countersign.providers" .Values.acme.dnsWebhooks | fromJsonArray)
      "zoneArgs" (include "countersign.prefixed" (list "--http01-zone=" .Values.acme.http01Zones) | fromJsonArray)
      "serverArgs" (include "countersign.prefixed" (list "--namespaced-server=" .Values.acme.servers) | fromJsonArray)
      "solverArgs" (include "countersign.prefixed" (list "--namespaced-solver=" .Values.acme.solvers) | fromJsonArray)
      "networkArgs" (include "countersign.prefixed" (list "--namespaced-network=" .Values.acme.networks) | fromJsonArray)
      "namespace" (include "countersign.namespace" .)
      "keysNamespace" .Values.keysNamespace
      "image" (include "countersign.image" .)
      "signers" $signers
      "bundles" $bundles
      "trustConfigMaps" (include "countersign.trustConfigMaps" $bundles | fromJsonArray)
      "table" $table
      "secrets" $secrets
      "teams" (include "countersign.places" .Values.namespacedSigners.secrets | fromJsonArray)
      "enabled" $enabled
      "monitoredPlaces" (include "countersign.places" .Values.ledger.monitoredSecrets | fromJsonArray)
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
{{- $given = append $given (dict "name" (splitList "/" .name | last | replace "." "-") "signerName" .name) -}}
{{- end -}}
{{- end -}}
{{- $profiles := list -}}
{{- $environment := list -}}
{{- if .Values.injection.enabled -}}
{{- if not $given -}}
{{- fail "injection.profiles: it is empty, and so is signers; name at least one profile" -}}
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

{{- /* Of .Values.ledger: the arguments that ledgerOf makes (src/manifests/values/plan.ts). */}}
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

{{- /* Of .Values.federation: the names of the bundles, as JSON. */}}
{{- define "countersign.federated" -}}
{{- $all := list -}}
{{- range .trustDomains -}}{{- $all = append $all (printf "federated.%s" .name) -}}{{- end -}}
{{- range .endedTrustDomains -}}{{- $all = append $all (printf "federated.%s" .) -}}{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- /* Of .Values.federation: the arguments that federationArguments makes (src/manifests/values/federation.ts). */}}
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
{{- include "countersign.merged" (list $common (get $root.Values.components $component)) -}}
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
