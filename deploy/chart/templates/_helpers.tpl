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
{{- dict
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
      "table" $table
      "secrets" $secrets
      "teams" (include "countersign.places" .Values.namespacedSigners.secrets | fromJsonArray)
      "enabled" $enabled
      "ledger" (and (get $enabled "ledger") (ne .Values.ledger.mode "off"))
      "namespacedSigners" .Values.namespacedSigners.enabled
      "podServices" .Values.podServices
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

{{- /* Of (list prefix texts): each text after the prefix, as JSON. */}}
{{- define "countersign.prefixed" -}}
{{- $prefix := index . 0 -}}
{{- $all := list -}}
{{- range index . 1 -}}{{- $all = append $all (printf "%s%s" $prefix .) -}}{{- end -}}
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
{
  "certificate-request": true,
  "acme": false,
  "acme-responder": false,
  "acme-solver": false,
  "pod-refresher": false,
  "ledger": false
}
{{- end -}}

{{- /* Replicas and resources of each component, as JSON. */}}
{{- define "countersign.described" -}}
{
  "approver": {
    "replicas": 2,
    "resources": {
      "requests": {
        "cpu": "20m",
        "memory": "128Mi"
      },
      "limits": {
        "memory": "640Mi"
      }
    }
  },
  "signer": {
    "replicas": 2,
    "resources": {
      "requests": {
        "cpu": "20m",
        "memory": "128Mi"
      },
      "limits": {
        "memory": "640Mi"
      }
    }
  },
  "pcr-issuer": {
    "replicas": 2,
    "resources": {
      "requests": {
        "cpu": "100m",
        "memory": "128Mi"
      },
      "limits": {
        "memory": "640Mi"
      }
    }
  },
  "certificate-request": {
    "replicas": 2,
    "resources": {
      "requests": {
        "cpu": "20m",
        "memory": "128Mi"
      },
      "limits": {
        "memory": "384Mi"
      }
    }
  },
  "attester": {
    "replicas": 2,
    "resources": {
      "requests": {
        "cpu": "20m",
        "memory": "128Mi"
      },
      "limits": {
        "memory": "384Mi"
      }
    }
  },
  "authority": {
    "replicas": 2,
    "resources": {
      "requests": {
        "cpu": "20m",
        "memory": "128Mi"
      },
      "limits": {
        "memory": "384Mi"
      }
    }
  },
  "acme": {
    "replicas": 2,
    "resources": {
      "requests": {
        "cpu": "20m",
        "memory": "128Mi"
      },
      "limits": {
        "memory": "384Mi"
      }
    }
  },
  "acme-responder": {
    "replicas": 2,
    "resources": {
      "requests": {
        "cpu": "20m",
        "memory": "96Mi"
      },
      "limits": {
        "memory": "256Mi"
      }
    }
  },
  "acme-solver": {
    "replicas": 2,
    "resources": {
      "requests": {
        "cpu": "20m",
        "memory": "128Mi"
      },
      "limits": {
        "memory": "384Mi"
      }
    }
  },
  "pod-refresher": {
    "replicas": 2,
    "resources": {
      "requests": {
        "cpu": "20m",
        "memory": "128Mi"
      },
      "limits": {
        "memory": "640Mi"
      }
    }
  },
  "ledger": {
    "replicas": 1,
    "resources": {
      "requests": {
        "cpu": "50m",
        "memory": "128Mi"
      },
      "limits": {
        "memory": "640Mi"
      }
    }
  }
}
{{- end -}}
