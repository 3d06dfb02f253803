// SPDX-License-Identifier: Apache-2.0
/**
 * Renders the templates of the chart by the functions that render deploy/: with tokens, once for
 * each variant.
 */
import type { ServedKind } from '#api/signer/cluster-signer.ts';
import { installationFiles } from '#install/files.ts';
import { crlConfigMapName } from '#api/revocation/names.ts';
import { hubSecretName } from '#api/signer/upstream-hub.ts';
import { isLasting } from '#install/lasting.ts';
import { COMPONENTS } from '#install/component-list.ts';
import { LABEL_COMPONENT } from '#kube/resource/labels.ts';
import { emit } from './emit.ts';
import {
  ACME_TEAM,
  DNS_PLACE,
  KEYS,
  MONITORED_PLACE,
  NAMESPACE,
  SECRET,
  TEAM,
  UPSTREAM_PLACE,
  servedSecretToken,
  symbolicPlan,
  type Variant,
} from './tokens.ts';
import { Either, isObject, vary } from './vary.ts';

type Documents = readonly unknown[];

/** Documents by file. */
type Rendered = ReadonlyMap<string, unknown>;

/** Conditions by file. */
const GUARDS: Readonly<Record<string, string>> = {
  'admission/who-may-request.yaml': '.Values.whoMayRequest',
  'admission/injection.yaml': '.Values.injection.enabled',
  // On a first installation, Helm does not find its kind. NOTES.txt names the remedy.
  'serving-signer.yaml':
    'and .Values.servingSigner.create (.Capabilities.APIVersions.Has "countersign.dev/v1alpha1/ClusterSigner") (include "countersign.ownsServingSigner" .)',
  'ledger-api-service.yaml': 'and .Values.ledger.aggregatedApi .Values.components.ledger.enabled',
  'network-policy.yaml': '.Values.networkPolicy.enabled',
  'public-network-policies.yaml': '.Values.networkPolicy.enabled',
  'federation-network-policy.yaml': '.Values.federation.egress',
  'service-monitors.yaml': '.Values.serviceMonitor.enabled',
  'alerts.yaml': '.Values.alerts.enabled',
  'dashboards.yaml': '.Values.dashboards.enabled',
};

const HEADER = `{{- /*
SPDX-License-Identifier: Apache-2.0
Made from src/install by make chart: do not edit.
*/}}
{{- $names := include "countersign.names" . | fromJson }}
`;

/**
 * Annotations of objects that stay. Argo CD reads Helm's when it deletes an Application, and its
 * own when an object is no longer rendered.
 */
export const KEPT: readonly string[] = [
  'helm.sh/resource-policy: keep',
  'argocd.argoproj.io/sync-options: Prune=false',
];

/** Annotation of a Deployment with the digest of its values. */
const VALUES_DIGEST = 'countersign.dev/values-digest';

/** Whether the ledger keeps its records on a volume. */
const ON_VOLUME = 'not $.Values.ledger.postgres.secret';

/** Whether the API server serves the ledger's API. */
const AGGREGATED = '$.Values.ledger.aggregatedApi';

/** Returns texts by path below templates/. */
export function templates(): ReadonlyMap<string, string> {
  const all = documentsByFile();
  return new Map([
    ...[...all].map(([file, documents]) => [file, template(file, documents)] as const),
    ['_kept-roles.tpl', keptRoles([...all.values()].flat())],
  ]);
}

function documentsByFile(): ReadonlyMap<string, Documents> {
  const withAcme = (
    namespacedSigners: boolean,
    affinity: boolean,
    of: Pick<Variant, 'ledger' | 'postgres'>,
  ): ReadonlyMap<string, unknown> => {
    const variant = { namespacedSigners, affinity, ...of };
    const yes = varyFiles(
      '$names.renewCertificates',
      files({ ...variant, acme: true, renews: true }),
      files({ ...variant, acme: true, renews: false }),
    );
    const no = files({ ...variant, acme: false, renews: false });
    // Policies loop over account keys, which exist only with ACME.
    return new Map(
      [...varyFiles('$names.acme', yes, no)].map(([file, found]) => [
        file,
        isPolicy(file) ? yes.get(file) : found,
      ]),
    );
  };
  const withLedger = (
    signers: boolean,
    affinity: boolean,
    postgres: boolean,
  ): ReadonlyMap<string, unknown> =>
    varyFiles(
      '$names.ledger',
      withAcme(signers, affinity, { ledger: true, postgres }),
      withAcme(signers, affinity, { ledger: false, postgres }),
    );
  const withDatabase = (signers: boolean, affinity: boolean): ReadonlyMap<string, unknown> =>
    varyFiles(ON_VOLUME, withLedger(signers, affinity, false), withLedger(signers, affinity, true));
  const withAffinity = (signers: boolean): ReadonlyMap<string, unknown> =>
    varyFiles(
      'hasKey $settings "affinity"',
      withDatabase(signers, true),
      withDatabase(signers, false),
    );
  const all = varyFiles('$names.namespacedSigners', withAffinity(true), withAffinity(false));
  return all as ReadonlyMap<string, Documents>;
}

/** Objects that depend on one value, and their condition. */
const SWITCHES = [
  ['podServices', '$names.podServices'],
  ['notifiedPods', '$names.notifiedPods'],
  ['ledgerFacts', '$.Values.ledger.facts'],
  ['aggregatedApi', AGGREGATED],
  ['svidSigner', '$.Values.bundleEndpoint.svidSigner'],
  ['keyHolder', '$settings.keyHolder'],
] as const;

type Switch = (typeof SWITCHES)[number][0];

const OFF: Readonly<Record<Switch, boolean>> = {
  podServices: false,
  notifiedPods: false,
  ledgerFacts: false,
  aggregatedApi: false,
  svidSigner: false,
  keyHolder: false,
};

function files(variant: Omit<Variant, Switch>): Rendered {
  return switched({ ...variant, ...OFF }, SWITCHES);
}

/** @param left - the switches that remain */
function switched(variant: Variant, left: readonly (typeof SWITCHES)[number][]): Rendered {
  const [next, ...others] = left;
  if (next === undefined) return installationFiles(symbolicPlan(variant));
  const [name, condition] = next;
  const of = (on: boolean): Rendered => switched({ ...variant, [name]: on }, others);
  return varyFiles(condition, of(true), of(false));
}

function isPolicy(file: string): boolean {
  return file.startsWith('admission/');
}

function varyFiles(condition: string, yes: Rendered, no: Rendered): Rendered {
  return new Map([...yes].map(([file, found]) => [file, vary(condition, found, no.get(file))]));
}

function template(file: string, documents: Documents): string {
  const lines = documents.flatMap((each) => [...definedRules(each), ...documentLines(each)]);
  const guard = GUARDS[file];
  const guarded = guard === undefined ? lines : [`{{- if ${guard} }}`, ...lines, '{{- end }}'];
  return `${HEADER}${guarded.join('\n')}\n`;
}

function documentLines(document: unknown): readonly string[] {
  if (document instanceof Either) {
    // Only of Signers, a volume and an aggregated API there are such objects; the loop over
    // namespaces is empty without Signers.
    const lines = documentLines(document.yes);
    return [ON_VOLUME, AGGREGATED].includes(document.condition)
      ? [`{{- if ${document.condition} }}`, ...lines, '{{- end }}']
      : lines;
  }
  if (!isObject(document)) throw new TypeError('a document is no object');
  const { kind, metadata } = document;
  const { name } = metadata as { readonly name: string };
  const text = ['---', ...settingsOf(kind, name), ...textOf(document)];
  return guarded(document, text);
}

/** Returns the lines under the condition of the object. */
function guarded(document: Record<string, unknown>, text: readonly string[]): readonly string[] {
  const { kind, metadata } = document;
  const { namespace, name } = metadata as { readonly namespace?: unknown; readonly name: string };
  const lines = ifEnabled(document, text);
  if (kind === 'Namespace') return ofNamespace(name, lines);
  if (isLasting(kind, name)) return kept(lines);
  const places = PLACES[String(namespace)];
  if (places !== undefined) {
    return [`{{- range $team := ${places} }}`, ...lines, '{{- end }}'];
  }
  return namespace === KEYS ? inKeys(document, lines) : lines;
}

function textOf(document: Readonly<Record<string, unknown>>): readonly string[] {
  const lines = emit(document);
  const role = roleOf(document);
  if (role !== undefined)
    return [
      ...lines.slice(0, lines.indexOf('rules:')),
      `{{ include "countersign.rules" ${role} }}`,
    ];
  return document['kind'] === 'Deployment' ? withDigest(lines) : lines;
}

/** Adds the digest of the values to a Deployment. Equal values do not restart its pods. */
function withDigest(lines: readonly string[]): readonly string[] {
  const at = lines.indexOf('  annotations:') + 1;
  if (at === 0) throw new TypeError('a Deployment has no annotations');
  return [
    ...lines.slice(0, at),
    '{{- if $.Release.IsUpgrade }}',
    `    ${VALUES_DIGEST}: {{ $names.valuesDigest | quote }}`,
    '{{- end }}',
    ...lines.slice(at),
  ];
}

/**
 * Returns an action with the fields of a component's role that the helpers need, or undefined for
 * other objects.
 */
function roleOf(document: Readonly<Record<string, unknown>>): string | undefined {
  const { kind, metadata } = document;
  const { namespace, name, labels } = metadata as {
    readonly namespace?: string;
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  const component = labels?.[LABEL_COMPONENT];
  const isRole = kind === 'Role' || kind === 'ClusterRole';
  if (!isRole || component === undefined) return undefined;
  const place = ROLE_PLACES[namespace ?? ''] ?? JSON.stringify(namespace ?? '');
  const loop = place === '$team.namespace' ? ' "team" $team' : '';
  return `(dict "kind" "${kind}" "namespace" ${place} "name" "${name}" "component" "${component}" "id" "${idOf(document)}" "Values" $.Values "names" $names${loop})`;
}

/** Returns the template's expression for the namespace of a Role. */
const ROLE_PLACES: Readonly<Record<string, string>> = {
  [NAMESPACE]: '$names.namespace',
  [KEYS]: '$names.keysNamespace',
  ...Object.fromEntries(
    [TEAM, ACME_TEAM, DNS_PLACE, MONITORED_PLACE, UPSTREAM_PLACE].map((each) => [
      each,
      '$team.namespace',
    ]),
  ),
};

function idOf({ metadata }: Readonly<Record<string, unknown>>): string {
  const { namespace = 'cluster', name } = metadata as {
    readonly namespace?: string;
    readonly name: string;
  };
  return `${name}.${namespace.replace(/[^a-z-]+/g, '')}`;
}

/** Writes the rules of a role as a separate template, for its document and the notes. */
function definedRules(document: unknown): readonly string[] {
  if (document instanceof Either) return definedRules(document.yes);
  if (!isObject(document) || roleOf(document) === undefined) return [];
  const lines = emit(document);
  return [
    `{{- define "countersign.rules.${idOf(document)}" -}}`,
    '{{- $names := .names -}}',
    '{{- $team := .team -}}',
    ...lines.slice(lines.indexOf('rules:')),
    '{{- end }}',
  ];
}

/** Titles of the roles that keep rules, for the notes. */
function keptRoles(documents: Documents): string {
  const lines = documents.flatMap((each): readonly string[] => {
    const document = each instanceof Either ? each.yes : each;
    const role = isObject(document) ? roleOf(document) : undefined;
    if (role === undefined || !isObject(document)) return [];
    return guarded(document, [
      `{{- with include "countersign.titleIfKept" ${role} }}{{- $all = append $all . }}{{- end }}`,
    ]);
  });
  return `{{- /*
SPDX-License-Identifier: Apache-2.0
Made from src/install by make chart: do not edit.
*/}}

{{- /* The roles with rules that the release before needs, as JSON. */}}
{{- define "countersign.keptRoles" -}}
{{- $names := include "countersign.names" . | fromJson -}}
{{- $all := list -}}
${lines.join('\n')}
{{- toJson $all -}}
{{- end -}}
`;
}

/** Lists that a template loops over, by their namespace. */
const PLACES: Readonly<Record<string, string>> = {
  [TEAM]: '$names.teams',
  [ACME_TEAM]: '$names.acmeTeams',
  [DNS_PLACE]: '$names.dnsPlaces',
  [MONITORED_PLACE]: '$names.monitoredPlaces',
  [UPSTREAM_PLACE]: '$names.upstreamPlaces',
};

/** Adds a condition on Secrets: a rule without their names would grant all of them. */
function inKeys(document: object, lines: readonly string[]): readonly string[] {
  const { kind, metadata } = document as { kind?: unknown; metadata: { readonly name: string } };
  if (metadata.name === 'countersign-acme')
    return ['{{- if $names.accounts }}', ...lines, '{{- end }}'];
  const ofKind = servedKindOf(metadata.name);
  const token = ofKind === undefined ? SECRET : servedSecretToken(ofKind);
  const isNamed = [token, crlConfigMapName(SECRET), hubSecretName(SECRET)].some((each) =>
    JSON.stringify(document).includes(`"resourceNames":["${each}"]`),
  );
  if (!isNamed && !isBindingOfReader(kind, metadata.name)) return lines;
  const list = ofKind === undefined ? '$names.secrets' : `$names.served.${ofKind}.secrets`;
  return [`{{- if ${list} }}`, ...lines, '{{- end }}'];
}

/** Returns the kind of requests that the component of a role answers. */
function servedKindOf(role: string): ServedKind | undefined {
  return [...COMPONENTS].find(([name]) => role === `countersign-${name}`)?.[1].servedKind;
}

/** Component that users may disable. */
function ifEnabled(document: object, lines: readonly string[]): readonly string[] {
  const { metadata } = document as { metadata: { labels?: Readonly<Record<string, string>> } };
  const component = metadata.labels?.[LABEL_COMPONENT];
  const description = [...COMPONENTS].find(([name]) => name === component)?.[1];
  if (component === undefined || description?.optional === undefined) return lines;
  return [`{{- if get $names.enabled "${component}" }}`, ...lines, '{{- end }}'];
}

function settingsOf(kind: unknown, name: string): readonly string[] {
  if (kind !== 'Deployment') return [];
  const component = name.replace('countersign-', '');
  return [
    `{{- $settings := include "countersign.settings" (list $ "${component}") | fromJson }}`,
    `{{- include "countersign.checkSettings" (list "${component}" $settings) }}`,
  ];
}

/**
 * The namespace of a release exists already. The others stay when a user deletes the release,
 * because their content would go with them.
 */
function ofNamespace(name: string, lines: readonly string[]): readonly string[] {
  const variable = name === NAMESPACE ? '$names.namespace' : '$names.keysNamespace';
  return [
    `{{- if and .Values.namespaces.create (ne ${variable} .Release.Namespace) }}`,
    ...kept(lines),
    '{{- end }}',
  ];
}

/** Stays when a user deletes the release. */
function kept(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) =>
    line === 'metadata:'
      ? [line, '  annotations:', ...KEPT.map((annotation) => `    ${annotation}`)]
      : [line],
  );
}

/** `authority` also reads the Secret of its own CA, so its Role exists without other Secrets. */
function isBindingOfReader(kind: unknown, name: string): boolean {
  return kind === 'RoleBinding' && name !== 'countersign-authority';
}
