// SPDX-License-Identifier: Apache-2.0
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import { keyOf } from '#api/object/object.ts';
import { crlConfigMapName } from '#api/revocation/names.ts';
import type { ServingFault } from '#api/serving/report.ts';
import { secretOrNone, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { EVERY_DERIVED_NAME, isNamespaced } from '#api/signer/signer.ts';
import { permissionText, type MissingPermission } from '#kube/client/access-review.ts';

/** The reason of the fault. `countersign check` knows how this installation grants permissions. */
export const RIGHT_MISSING = 'MissingPermissions';

const HOW = 'countersign check prints how to grant it in this installation';
/** A message of {@link rightsFaults}, and the permission in it. */
const MISSING =
  /^ClusterRole or Role countersign-[a-z-]+ lacks: (.*) \(countersign check prints .*\)$/s;

/**
 * Merges several messages of {@link rightsFaults} of one component into one message: a component
 * without its binding lacks about a dozen permissions. Other messages stay.
 *
 * @param isOfNames - true if each missing permission concerns a single signer: the role is then
 *   bound, and lacks only names
 */
export function mergeRightsTexts(
  component: string,
  texts: readonly string[],
  isOfNames: boolean,
): readonly string[] {
  const missing = texts.flatMap((each) => MISSING.exec(each)?.[1] ?? []);
  if (missing.length < 2) return texts;
  const name = `countersign-${component}`;
  const all = missing.join(', ');
  const merged = isOfNames
    ? `ClusterRole or Role ${name} lacks for this signer: ${all} (${HOW})`
    : `ServiceAccount ${name} lacks: ${all}. Check that ClusterRoleBinding or RoleBinding ${name} exists (${HOW})`;
  return [merged, ...texts.filter((each) => !MISSING.test(each))];
}

/**
 * Returns the faults that these missing permissions cause for signers. Each verb and resource is
 * one fault, however many names the rule has.
 *
 * @param component - the subcommand, for the name of its roles
 * @param signers - all that the component sees
 */
export function rightsFaults(
  component: string,
  missing: readonly MissingPermission[],
  signers: readonly ClusterSigner[],
): readonly ServingFault[] {
  const byRule = Map.groupBy(missing, (each) =>
    JSON.stringify([each.verb, each.resource, each.namespace, concernsSome(each, signers)]),
  );
  return [...byRule.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const one = concernsSome(first, signers);
    const text = permissionText(one ? { ...first, name: undefined } : first);
    const fault = {
      reason: RIGHT_MISSING,
      message: `ClusterRole or Role countersign-${component} lacks: ${text} (${HOW})`,
      stops: !isSideWork(first),
    };
    if (!one) return [fault];
    const names = new Set(group.map(({ name }) => name));
    const concerned = signers.filter((each) => names.has(nameIn(first, each)));
    return concerned.length === 0
      ? []
      : [{ ...fault, signers: concerned.map(({ metadata }) => keyOf(metadata)) }];
  });
}

const SIGNERS = 'certificates.k8s.io/signers';
const BUNDLES = 'certificates.k8s.io/clustertrustbundles';

const CONFIG_MAPS = 'configmaps';

/**
 * Reports whether the name in a permission belongs to one signer. Other ConfigMaps than those with
 * a signer's CRLs belong to the installation.
 */
function concernsSome(permission: MissingPermission, signers: readonly ClusterSigner[]): boolean {
  const { resource, name } = permission;
  if (name === undefined) return false;
  if (resource === CONFIG_MAPS) return signers.some((each) => nameIn(permission, each) === name);
  return [SIGNERS, BUNDLES, 'secrets'].includes(resource);
}

/**
 * Resources for which requests do not wait: Events, the check of the policies, Leases, the
 * components' own ports, the next rotation.
 */
const SIDE_WORK =
  /^(?:events\.k8s\.io|admissionregistration\.k8s\.io|coordination\.k8s\.io)\/|^configmaps$/;

function isSideWork({ resource, verb }: MissingPermission): boolean {
  return SIDE_WORK.test(resource) || (resource === 'secrets' && ['create', 'patch'].includes(verb));
}

/** Returns the name of the signer's object of the kind that a permission is for. */
function nameIn(
  { resource, namespace }: MissingPermission,
  signer: ClusterSigner,
): string | undefined {
  const { signerName, trustBundle } = signer.spec;
  if (isNamespaced(signer)) return resource === SIGNERS ? EVERY_DERIVED_NAME : undefined;
  if (resource === SIGNERS) return signerName;
  if (resource === BUNDLES) {
    return trustBundle === undefined ? undefined : bundleName(signerName, trustBundle.name);
  }
  const secret = secretOrNone(signer.spec);
  if (secret === undefined || secret.namespace !== namespace) return undefined;
  return resource === CONFIG_MAPS ? crlConfigMapName(secret.name) : secret.name;
}
