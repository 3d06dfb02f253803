{{- /*
SPDX-License-Identifier: Apache-2.0
What the API server would refuse of CPU and memory after the rest is installed, with the words of src/install/values/check-resources.ts.
*/}}

{{- /* Of the values. */}}
{{- define "countersign.checkQuantities" -}}
{{- include "countersign.checkEachQuantity" (list "defaults.resources" .defaults.resources) -}}
{{- range $component, $given := .components -}}
{{- include "countersign.checkEachQuantity" (list (printf "components.%s.resources" $component) $given.resources) -}}
{{- include "countersign.checkEachQuantity" (list (printf "components.%s.keyHolder.resources" $component) ($given.keyHolder | default dict).resources) -}}
{{- end -}}
{{- end -}}

{{- /* Of (list at resources). */}}
{{- define "countersign.checkEachQuantity" -}}
{{- $at := index . 0 -}}
{{- $resources := index . 1 | default dict -}}
{{- range $kind := list "requests" "limits" -}}
{{- range $name, $quantity := get $resources $kind | default dict -}}
{{- if not (regexMatch "^\\+?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$" (toString $quantity)) -}}
{{- fail (printf "%s.%s.%s: \"%s\" is not a quantity; write one such as 500m, 1.5 or 256Mi" $at $kind $name (toString $quantity)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Of (list component settings): the settings of a component that is installed. */}}
{{- define "countersign.checkSettings" -}}
{{- $component := index . 0 -}}
{{- $settings := index . 1 -}}
{{- include "countersign.checkRequests" (list (printf "components.%s.resources" $component) $settings.resources) -}}
{{- with $settings.keyHolder -}}
{{- include "countersign.checkRequests" (list (printf "components.%s.keyHolder.resources" $component) (include "countersign.keyHolder" . | fromJson).resources) -}}
{{- end -}}
{{- end -}}

{{- /* Of (list at resources), with the defaults. */}}
{{- define "countersign.checkRequests" -}}
{{- $at := index . 0 -}}
{{- $resources := index . 1 -}}
{{- $requests := $resources.requests | default dict -}}
{{- range $name, $limit := $resources.limits | default dict -}}
{{- if hasKey $requests $name -}}
{{- $request := get $requests $name -}}
{{- if gt (include "countersign.quantity" $request | float64) (include "countersign.quantity" $limit | float64) -}}
{{- fail (printf "%s: the request of %s, %s, is greater than the limit, %s; write a lower requests.%s or a higher limits.%s" $at $name (toString $request) (toString $limit) $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* The value of a quantity: apimachinery, resource.Quantity. */}}
{{- define "countersign.quantity" -}}
{{- $text := toString . | trimPrefix "+" -}}
{{- $number := regexFind "^[0-9.]+([eE][+-]?[0-9]+)?" $text -}}
{{- $decimal := dict "n" 1e-9 "u" 1e-6 "m" 1e-3 "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 -}}
{{- $binary := dict "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 "Ei" 1152921504606846976.0 -}}
{{- mulf (float64 $number) (get (merge $decimal $binary) (trimPrefix $number $text)) -}}
{{- end -}}
