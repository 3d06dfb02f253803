// SPDX-License-Identifier: Apache-2.0
/** The templates of the chart, made of the same functions as deploy/: rendered with tokens, once for each variant. */
import { installationFiles } from '../../src/manifests/files.ts';
import { LOG_KEY_SECRET } from '../../src/controllers/ledger/log-key.ts';
import { COMPONENTS } from '../../src/manifests/components.ts';
import { LABEL_COMPONENT } from '../../src/manifests/names.ts';
import { emit } from './emit.ts';
import {
  ACME_TEAM,
  DNS_PLACE,
  KEYS,
  MONITORED_PLACE,
  NAMESPACE,
  SECRET,
  TEAM,
  symbolicPlan,
  type Variant,
} from './tokens.ts';
import { Either, isObject, vary } from './vary.ts';

type Documents = readonly unknown[];

/** File → its documents. */
type Rendered = ReadonlyMap<string, unknown>;

/** File → when it is there. */
const GUARDS: Readonly<Record<string, string>> = {
  'admission/who-may-request.yaml': '.Values.whoMayRequest',
  'admission/injection.yaml': '.Values.injection.enabled',
  // On a first installation Helm would not find its kind: NOTES.txt says what to do.
  'serving-signer.yaml':
    'and .Values.servingSigner.create (.Capabilities.APIVersions.Has "countersign.dev/v1alpha1/ClusterSigner") (include "countersign.ownsServingSigner" .)',
  'network-policy.yaml': '.Values.networkPolicy.enabled',
  'public-network-policies.yaml': '.Values.networkPolicy.enabled',
  'federation-network-policy.yaml': '.Values.federation.egress',
  'service-monitors.yaml': '.Values.serviceMonitor.enabled',
  'alerts.yaml': '.Values.alerts.enabled',
  'dashboards.yaml': '.Values.dashboards.enabled',
};

const HEADER = `{{- /*
SPDX-License-Identifier: Apache-2.0
Made from src/manifests by make chart: do not edit.
*/}}
{{- $names := include "countersign.names" . | fromJson }}
`;

/** Whether the ledger keeps its records on a volume. */
const ON_VOLUME = 'not $.Values.ledger.postgres.secret';

/** Path below templates/ → text. */
export function templates(): ReadonlyMap<string, string> {
  return new Map(
    [...documentsByFile()].map(([file, documents]) => [file, template(file, documents)]),
  );
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
    // Policies loop over account keys, of which there are none without ACME.
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
    varyFiles('$settings.affinity', withDatabase(signers, true), withDatabase(signers, false));
  const all = varyFiles('$names.namespacedSigners', withAffinity(true), withAffinity(false));
  return all as ReadonlyMap<string, Documents>;
}

/** What differs by a value alone, and the condition that says so. */
const SWITCHES = [
  ['podServices', '$names.podServices'],
  ['notifiedPods', '$names.notifiedPods'],
  ['ledgerFacts', '$.Values.ledger.facts'],
  ['svidSigner', '$.Values.bundleEndpoint.svidSigner'],
] as const;

type Switch = (typeof SWITCHES)[number][0];

const OFF: Readonly<Record<Switch, boolean>> = {
  podServices: false,
  notifiedPods: false,
  ledgerFacts: false,
  svidSigner: false,
};

function files(variant: Omit<Variant, Switch>): Rendered {
  return switched({ ...variant, ...OFF }, SWITCHES);
}

/** @param left - the switches that are still to be turned */
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
  const lines = documents.flatMap((each) => documentLines(each));
  const guard = GUARDS[file];
  const guarded = guard === undefined ? lines : [`{{- if ${guard} }}`, ...lines, '{{- end }}'];
  return `${HEADER}${guarded.join('\n')}\n`;
}

function documentLines(document: unknown): readonly string[] {
  if (document instanceof Either) {
    // Only Signers and a volume are objects of their own; the loop over namespaces is empty without Signers.
    const lines = documentLines(document.yes);
    return document.condition === ON_VOLUME
      ? [`{{- if ${ON_VOLUME} }}`, ...lines, '{{- end }}']
      : lines;
  }
  if (!isObject(document)) throw new TypeError('a document is no object');
  const { kind, metadata } = document;
  const { namespace, name } = metadata as { readonly namespace?: unknown; readonly name: string };
  const text = ['---', ...settingsOf(kind, name), ...emit(document)];
  const lines = isFilled(kind, name) ? text : ifEnabled(document, text);
  if (kind === 'Namespace') return ofNamespace(name, lines);
  if (isKept(kind, name)) return kept(lines);
  const places = PLACES[String(namespace)];
  if (places !== undefined) {
    return [`{{- range $team := ${places} }}`, ...lines, '{{- end }}'];
  }
  return namespace === KEYS ? inKeys(document, lines) : lines;
}

/** Namespace → the list of those that a template loops over. */
const PLACES: Readonly<Record<string, string>> = {
  [TEAM]: '$names.teams',
  [ACME_TEAM]: '$names.acmeTeams',
  [DNS_PLACE]: '$names.dnsPlaces',
  [MONITORED_PLACE]: '$names.monitoredPlaces',
};

/** Without a Secret there would be a rule without names, which means all of them. */
function inKeys(document: object, lines: readonly string[]): readonly string[] {
  const { kind, metadata } = document as { kind?: unknown; metadata: { readonly name: string } };
  if (metadata.name === 'countersign-acme')
    return ['{{- if $names.accounts }}', ...lines, '{{- end }}'];
  const isNamed = JSON.stringify(document).includes(`"resourceNames":["${SECRET}"]`);
  if (!isNamed && !isBindingOfReader(kind, metadata.name)) return lines;
  return ['{{- if $names.secrets }}', ...lines, '{{- end }}'];
}

/** Objects that `authority` fills are there for every component, so that it misses none. */
const FILLED = ['Service', 'Secret'];

/** Services that are there with their component. */
const PUBLIC = [...COMPONENTS.values()].flatMap(({ publicPorts = [] }) =>
  publicPorts.map(({ service }) => service),
);

function isFilled(kind: unknown, name: string): boolean {
  return FILLED.includes(String(kind)) && !PUBLIC.includes(name) && name !== LOG_KEY_SECRET;
}

/** A component that may be left out. */
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
  return [`{{- $settings := include "countersign.settings" (list $ "${component}") | fromJson }}`];
}

/** The namespace of a release is there already. The keys stay when the release goes. */
function ofNamespace(name: string, lines: readonly string[]): readonly string[] {
  const variable = name === NAMESPACE ? '$names.namespace' : '$names.keysNamespace';
  return [
    `{{- if and .Values.namespaces.create (ne ${variable} .Release.Namespace) }}`,
    ...(name === KEYS ? kept(lines) : lines),
    '{{- end }}',
  ];
}

/**
 * A CA's signer: created anew it would have another UID, and authority would never replace the CA in the Secret that stays.
 * Without its key and its volume the ledger would begin anew.
 */
function isKept(kind: unknown, name: string): boolean {
  return kind === 'ClusterSigner' || kind === 'PersistentVolumeClaim' || name === LOG_KEY_SECRET;
}

/** Stays when the release goes. */
function kept(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) =>
    line === 'metadata:' ? [line, '  annotations:', '    helm.sh/resource-policy: keep'] : [line],
  );
}

/** `authority` also reads the Secret of our own CA, so its Role is there without any other. */
function isBindingOfReader(kind: unknown, name: string): boolean {
  return kind === 'RoleBinding' && name !== 'countersign-authority';
}
