// SPDX-License-Identifier: Apache-2.0
/** The check of signers that the values do not list, the most common mistake. Pure. */
import { OPERATOR_RBAC_FLAGS } from '#install/operator/flags.ts';
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import {
  SERVED_KINDS,
  keysNamespaceOf,
  readsPods,
  secretOrNone,
  servedKinds,
  type ClusterSigner,
  type ServedKind,
} from '#api/signer/cluster-signer.ts';
import { findCondition } from '#api/request/conditions.ts';
import { authorizingNames } from '#base/authorizing-names.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { shellWord } from '#base/quote.ts';
import type { InstallationFacts } from '../facts.ts';
import { allWell, causeOf, error, whereSeen, type Outcome } from '../finding.ts';
import { upgradeCommand, putBack } from '../installer.ts';

const CHECK = 'signers-listed';

/** Components whose roles name ClusterSigners. Roles of `approver` also name ACME signers. */
const NAMING: readonly string[] = ['signer', 'pcr-issuer', 'certificate-request', 'attester'];

/** The facts by which signers are listed, and the installer that can list one. */
export type ListingFacts = Pick<
  InstallationFacts,
  'roles' | 'signers' | 'installer' | 'operated' | 'deployments' | 'namespace'
>;

type Roles = ReadonlyMap<string, readonly PermissionRule[]>;

/** A line of the value `signers`, as the chart and the operator accept it. */
interface SignerLine {
  readonly name: string;
  readonly bundle?: string;
  readonly secret?: string;
  /** Absent if it serves all kinds of requests. */
  readonly serves?: readonly ServedKind[];
}

/** `signers-listed` */
export function checkListed(facts: ListingFacts): readonly Outcome[] {
  return whereSeen(facts.roles, () =>
    whereSeen(facts.signers, () =>
      allWell([...listingFaults(facts).values()], 'the roles name every ClusterSigner'),
    ),
  );
}

/**
 * Returns the finding about each ClusterSigner that no component may serve, by its name. Empty if
 * the roles or the signers are unknown.
 */
export function listingFaults(facts: ListingFacts): ReadonlyMap<string, Outcome> {
  const { roles } = facts;
  if (!('value' in roles)) return new Map();
  const unlisted = unlistedSigners(facts);
  const remediation = commandFor(facts, roles.value, unlisted);
  const others = servedOthers(facts, unlisted);
  return new Map([
    ...unlisted.map((signer) => {
      const why = `no role names ${signer.spec.signerName}, so that no component may serve it; signers needs this line: ${JSON.stringify(lineOf(signer))}${others}`;
      return [signer.metadata.name, error(why, remediation, subjectOf(signer))] as const;
    }),
    ...misplacedSigners(facts, roles.value).map(
      (signer) => [signer.metadata.name, misplaced(signer, roles.value)] as const,
    ),
  ]);
}

/** Returns the cause of other findings about a ClusterSigner of {@link listingFaults}. */
export function listingCause(name: string): string {
  return causeOf(CHECK, `clustersigner/${name}`);
}

/** Returns the ClusterSigners that no role of a component names. Empty if that is unknown. */
export function unlistedSigners({
  roles,
  signers,
}: Pick<ListingFacts, 'roles' | 'signers'>): readonly ClusterSigner[] {
  if (!('value' in roles) || !('value' in signers) || roles.value.size === 0) return [];
  const { states, installation } = signers.value;
  const listed = listedNames(roles.value);
  // If two ClusterSigners share a signer name, the newer one serves nothing, whatever the roles
  // grant.
  const names = new Set(installation.signers);
  return states
    .map(({ signer }) => signer)
    .filter(({ spec }) => names.has(spec.signerName) && !isListed(spec.signerName, listed));
}

/**
 * Returns a clause for the finding: the other signers are served. Empty if one is not Ready.
 * Components are unready while a permission is missing, and still sign for the others.
 */
function servedOthers({ signers }: ListingFacts, unlisted: readonly ClusterSigner[]): string {
  const states = 'value' in signers ? signers.value.states : [];
  const others = states.map(({ signer }) => signer).filter((each) => !unlisted.includes(each));
  const isServed = others.every(
    ({ status }) => findCondition(status?.conditions, 'Ready')?.status === 'True',
  );
  if (others.length === 0 || !isServed) return '';
  return '; the other signers are served, although pods of the components may not be Ready';
}

/**
 * Returns the ClusterSigners that are not Ready because of the namespace of their CA: no line of
 * the values can name another one than that of the installation.
 */
function misplacedSigners(
  { signers }: Pick<ListingFacts, 'signers'>,
  roles: Roles,
): readonly ClusterSigner[] {
  const homes = keysNamespacesIn(roles);
  if (!('value' in signers) || homes.length === 0) return [];
  const { states, installation } = signers.value;
  return states
    .map(({ signer }) => signer)
    .filter(({ spec, status }) => {
      const isServed =
        findCondition(status?.conditions, 'Ready')?.status === 'True' ||
        installation.signers.includes(spec.signerName);
      const namespace = keysNamespaceOf(spec);
      return !isServed && namespace !== undefined && !homes.includes(namespace);
    });
}

function misplaced(signer: ClusterSigner, roles: Roles): Outcome {
  const [home = ''] = keysNamespacesIn(roles);
  return error(
    `its CA is in namespace ${keysNamespaceOf(signer.spec) ?? ''}, so that no component may serve it: this installation keeps its CAs in namespace ${home}`,
    `move its CA to namespace ${home}, and write this namespace in spec.authority: kubectl edit clustersigner ${shellWord(signer.metadata.name)}`,
    subjectOf(signer),
  );
}

/** Returns the namespaces in which `authority` may create the Secrets of CAs. */
export function keysNamespacesIn(roles: Roles): readonly string[] {
  return namespacesOf(roles, 'authority', { resource: 'secrets', verb: 'create' });
}

/** Returns the namespaces of the components, in which they hold their Leases. */
export function componentNamespacesIn(roles: Roles): readonly string[] {
  return namespacesOf(roles, 'authority', { resource: 'leases', verb: 'create' });
}

function namespacesOf(
  roles: Roles,
  component: string,
  { resource, verb }: { readonly resource: string; readonly verb: string },
): readonly string[] {
  const rules = (roles.get(component) ?? []).filter(
    ({ resources, verbs }) => resources.includes(resource) && verbs.includes(verb),
  );
  return [...new Set(rules.flatMap(({ namespace }) => namespace ?? []))];
}

function subjectOf({ metadata }: ClusterSigner): string {
  return `clustersigner/${metadata.name}`;
}

function isListed(name: string, listed: ReadonlySet<string>): boolean {
  return listed.has('*') || authorizingNames('sign', name).some((each) => listed.has(each));
}

/** Returns the names in the rules, or `*` for a rule without names. */
function listedNames(roles: Roles): ReadonlySet<string> {
  const rules = NAMING.flatMap((component) => roles.get(component) ?? []);
  return new Set(
    rules
      .filter(({ resources }) => resources.includes('signers'))
      .flatMap(({ resourceNames = [] }) => (resourceNames.length === 0 ? ['*'] : resourceNames)),
  );
}

/** Returns the name, and the fields that differ from the defaults of the chart. */
function lineOf({ spec }: ClusterSigner, kinds = servedKinds(spec)): SignerLine {
  const { signerName, trustBundle } = spec;
  const bundle = trustBundle?.name ?? '';
  const secret = secretOrNone(spec)?.name ?? '';
  const path = signerName.split('/')[1] ?? '';
  return {
    name: signerName,
    ...(bundle === 'primary' ? {} : { bundle }),
    ...(secret === `${path}-ca` ? {} : { secret }),
    ...servesOnly(kinds),
  };
}

function commandFor(facts: ListingFacts, roles: Roles, unlisted: readonly ClusterSigner[]): string {
  const { installer } = facts;
  const needsPods = unlisted.some(({ spec }) => readsPods(spec)) && !readsPodsNow(roles);
  switch (installer.kind) {
    case 'helm': {
      const list = shellWord(`signers=${JSON.stringify(wholeList(facts, roles, unlisted))}`);
      const pods = needsPods ? ' --set podServices=true' : '';
      return `${upgradeCommand(installer)} --set-json ${list}${pods}`;
    }
    case 'operator':
      return operatorPatch(facts, unlisted, needsPods);
    case 'install':
      return `add the line to signers in values.yaml${needsPods ? ', set podServices: true' : ''}, and run ${putBack(installer)}`;
    case 'manifests':
      return `add the line to signers in values.yaml${needsPods ? ', set podServices: true' : ''}, then: ${putBack(installer)}`;
  }
}

/** Flags of the operator that decide its permissions. `countersign rbac` accepts the same flags. */
const OPERATOR_FLAGS = /^--(?:image|secret-namespace|allow-image|allow-danger-zone)(?:=|$)/;

/**
 * Returns a command that patches the Countersign and grants the operator the permissions of the new
 * spec: the operator cannot create a role that grants more than its own.
 */
function operatorPatch(
  { operated, deployments, namespace }: ListingFacts,
  unlisted: readonly ClusterSigner[],
  needsPods: boolean,
): string {
  const objects = 'value' in operated ? operated.value : [];
  const has = objects.find(({ kind }) => kind === 'Countersign')?.signers !== undefined;
  const lines = unlisted.map((signer) => lineOf(signer));
  const add = has
    ? lines.map((value) => ({ op: 'add', path: '/spec/signers/-', value }))
    : [{ op: 'add', path: '/spec/signers', value: lines }];
  const pods = needsPods ? [{ op: 'add', path: '/spec/podServices', value: true }] : [];
  const changes = shellWord(JSON.stringify([...add, ...pods]));
  const patch = `kubectl patch countersigns cluster --type=json -p ${changes}`;
  const all = 'value' in deployments ? deployments.value : [];
  const operator = all.find(({ component }) => component === 'operator');
  if (operator === undefined)
    return `${patch}; then apply what countersign rbac --operator prints of it, with the flags of the first time (${OPERATOR_RBAC_FLAGS})`;
  const flags = operator.args
    .filter((each) => OPERATOR_FLAGS.test(each))
    .map((each) => shellWord(each));
  const place = namespace === '' ? [] : [`--namespace=${shellWord(namespace)}`];
  const rbac = ['countersign rbac --operator /dev/stdin', ...place, ...flags].join(' ');
  return `${patch} -o yaml | ${rbac} | kubectl apply --server-side --force-conflicts -f -`;
}

/** Returns the whole list with the existing lines, because Helm replaces lists. */
function wholeList(
  { signers }: ListingFacts,
  roles: Roles,
  unlisted: readonly ClusterSigner[],
): readonly SignerLine[] {
  if (!('value' in signers)) return [];
  const { states, installation } = signers.value;
  const known = new Map(states.map(({ signer }) => [signer.spec.signerName, signer]));
  const others = [...(installation.acme?.signers ?? []), ...(installation.external?.signers ?? [])];
  const kept = [...listedNames(roles)]
    .filter((name) => name !== installation.servingSigner && !name.includes('*'))
    .filter((name) => !others.includes(name) && !name.startsWith('signers.countersign.dev/'));
  const lines = kept.map((name) => {
    const signer = known.get(name);
    return signer === undefined ? withoutSigner(name, roles) : lineOf(signer, kindsIn(roles, name));
  });
  return [...lines, ...unlisted.map((signer) => lineOf(signer))];
}

/** Returns the line of a name without a ClusterSigner. Its bundle comes from attester's role. */
function withoutSigner(name: string, roles: Roles): SignerLine {
  const bundles = (roles.get('attester') ?? []).flatMap(({ resourceNames = [] }) => resourceNames);
  const prefix = bundleName(name, '');
  const bundle = bundles.find((each) => each.startsWith(prefix))?.slice(prefix.length) ?? '';
  const only = servesOnly(kindsIn(roles, name));
  return bundle === 'primary' ? { name, ...only } : { name, bundle, ...only };
}

function servesOnly(kinds: readonly ServedKind[]): Pick<SignerLine, 'serves'> {
  const isAll = kinds.length === 0 || kinds.length === SERVED_KINDS.length;
  return isAll ? {} : { serves: kinds };
}

const COMPONENT_OF: Readonly<Record<ServedKind, string>> = {
  pods: 'pcr-issuer',
  requests: 'signer',
  certificateRequests: 'certificate-request',
};

/**
 * Returns the kinds whose component may serve the name now, so that the printed command grants no
 * more than before.
 */
function kindsIn(roles: Roles, name: string): readonly ServedKind[] {
  return SERVED_KINDS.filter((kind) =>
    (roles.get(COMPONENT_OF[kind]) ?? []).some(
      ({ resources, resourceNames = [] }) =>
        resources.includes('signers') && resourceNames.includes(name),
    ),
  );
}

function readsPodsNow(roles: Roles): boolean {
  const rules = roles.get('pcr-issuer') ?? [];
  return rules.some(({ resources }) => resources.includes('services'));
}
