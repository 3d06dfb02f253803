// SPDX-License-Identifier: Apache-2.0
/**
 * Lists the objects that an uninstallation leaves in the cluster: keys, records, trust, and the
 * definitions of signers.
 */
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { ACME_CLUSTER_SIGNERS, ACME_SIGNERS, CHALLENGES, ORDERS } from '#api/acme/names.ts';
import { REVOCATIONS } from '#api/revocation/names.ts';
import { WORKLOAD_RESOURCES } from '#api/workload/workload.ts';
import { certificatesResourceIfServed } from '#component/certificates-resources.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import { EXTERNAL_SIGNERS } from '#component/signers/external-signers.ts';
import { SIGNERS } from '#component/signers/namespaced-signers.ts';
import type { Client } from '#kube/client/client.ts';
import { DISCOVERY_ROLE } from '#kube/client/discovery.ts';
import { ignoreNotFound, KubeError } from '#kube/client/kube-error.ts';
import { LEASES } from '#kube/lease/lease.ts';
import { CONFIG_MAPS, NAMESPACES, SECRETS } from '#kube/resource/core-v1.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import { isLasting } from '#install/lasting.ts';
import { leasePrefix } from '#component/leases.ts';
import { PROCESSES } from '#install/component-list.ts';
import { LABEL_COMPONENT, LABEL_NAME } from '#kube/resource/labels.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';

/** Remaining objects, by kind. */
export interface LeftBehind {
  /** Deployments of components. While there is one, Countersign is still installed. */
  readonly components: readonly ManagedObject[];
  /** Deployments of the operators, which stay after the deletion of their object. */
  readonly operators: readonly ManagedObject[];
  readonly namespaces: readonly ManagedObject[];
  readonly definitions: readonly ManagedObject[];
  readonly claims: readonly ManagedObject[];
  readonly secrets: readonly ManagedObject[];
  /** Records, CRLs, and copies of trust anchors. */
  readonly configMaps: readonly ManagedObject[];
  /** Leases of components that have ended. An operator still runs, and holds its own. */
  readonly leases: readonly ManagedObject[];
  /**
   * Leases in our namespaces with our label and a name that no component uses. Another program
   * holds them.
   */
  readonly foreignLeases: readonly ManagedObject[];
  /** Signers, Revocations and Orders, which go with their definitions. ClusterSigners are whole. */
  readonly signers: readonly ManagedObject[];
  readonly bundles: readonly ManagedObject[];
  /** Challenges with a finalizer, which only `acme` removes. */
  readonly challenges: readonly ManagedObject[];
  /** Kinds that the user may not list, or not without another permission. */
  readonly unseen: readonly string[];
}

/** Request names only, and no data of a Secret or ConfigMap. */
export const METADATA_LIST =
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
/** Label of every object of an installation. */
export const INSTALLED = `${LABEL_NAME}=countersign`;
/** Label of objects that components create: CA Secrets, account keys, ClusterTrustBundles. */
const MADE = 'app.kubernetes.io/managed-by=countersign';
/** Components that outlive the installation that they create. */
export const OPERATORS: readonly string[] = ['operator', 'cert-manager-operator'];

const CLAIMS = resource({ group: '', version: 'v1', plural: 'persistentvolumeclaims' });
const DEFINITIONS = resource({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
});

/** Kinds of the definitions, except those of the operators and Challenges. */
const DEFINED: Readonly<Record<string, Resource>> = {
  ClusterSigner: CLUSTER_SIGNERS,
  Signer: SIGNERS,
  ExternalClusterSigner: EXTERNAL_SIGNERS,
  AcmeClusterSigner: resource(ACME_CLUSTER_SIGNERS),
  AcmeSigner: resource(ACME_SIGNERS),
  Order: resource(ORDERS),
  Revocation: resource(REVOCATIONS),
};

const UNDISCOVERED_BUNDLES = `clustertrustbundles.certificates.k8s.io without API discovery (ClusterRole ${DISCOVERY_ROLE})`;

interface Listing {
  readonly kind: string;
  readonly of: Resource;
  readonly selectors: readonly string[];
  /** Limits the list to a namespace. */
  readonly within?: string;
  /** Reads the whole objects. */
  readonly whole?: boolean;
}

/**
 * Lists the remaining objects.
 *
 * @throws KubeError, unless the user may not list a kind
 */
export async function readLeftBehind(client: Client): Promise<LeftBehind> {
  const unseen: string[] = [];
  const visible = async <T>(name: string, read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof KubeError) || error.status !== 403) throw error;
      if (!unseen.includes(name)) unseen.push(name);
      return undefined;
    }
  };
  const list = async (listing: Listing): Promise<readonly ManagedObject[]> => {
    const { group, plural } = listing.of;
    const name = group === '' ? plural : `${plural}.${group}`;
    return (await visible(name, () => listMetadata(client, listing))) ?? [];
  };
  const labelled = (kind: string, of: Resource): Promise<readonly ManagedObject[]> =>
    list({ kind, of, selectors: [INSTALLED] });
  const deployments = await labelled('Deployment', resource(WORKLOAD_RESOURCES.Deployment));
  const isOperator = ({ metadata }: ManagedObject): boolean =>
    OPERATORS.includes(metadata.labels?.[LABEL_COMPONENT] ?? '');
  const configMaps = await labelled('ConfigMap', CONFIG_MAPS);
  const signers: ManagedObject[] = [];
  for (const [kind, of] of Object.entries(DEFINED))
    signers.push(...(await list({ kind, of, selectors: [''], whole: of === CLUSTER_SIGNERS })));
  const challenges = await list({
    kind: 'Challenge',
    of: resource(CHALLENGES),
    selectors: [''],
  });
  const leases = (await labelled('Lease', LEASES)).filter((each) => !isOperator(each));
  const namespaces = await labelled('Namespace', NAMESPACES);
  const secrets = await list({ kind: 'Secret', of: SECRETS, selectors: [INSTALLED, MADE] });
  const given: ManagedObject[] = [];
  for (const { metadata } of namespaces) {
    const found = await list({
      kind: 'Secret',
      of: SECRETS,
      selectors: [''],
      within: metadata.name,
    });
    given.push(...found.filter((each) => isGiven(each) && !includes(secrets, each)));
  }
  const bundles = await visible(UNDISCOVERED_BUNDLES, () =>
    certificatesResourceIfServed(client, 'clustertrustbundles'),
  );
  return {
    components: deployments.filter((each) => !isOperator(each)),
    operators: deployments.filter(isOperator),
    namespaces,
    definitions: await labelled('CustomResourceDefinition', DEFINITIONS),
    claims: await labelled('PersistentVolumeClaim', CLAIMS),
    secrets: [...secrets, ...given],
    configMaps: [
      ...configMaps.filter(({ kind, metadata }) => isLasting(kind, metadata.name)),
      ...(await list({ kind: 'ConfigMap', of: CONFIG_MAPS, selectors: [MADE] })),
    ],
    leases: leases.filter(isOfComponent),
    foreignLeases: leases.filter((each) => !isOfComponent(each) && isIn(namespaces, each)),
    signers,
    bundles:
      bundles === undefined
        ? []
        : await list({ kind: 'ClusterTrustBundle', of: bundles, selectors: [MADE] }),
    challenges: challenges.filter(hasFinalizer),
    unseen,
  };
}

function isIn(namespaces: readonly ManagedObject[], { metadata }: ManagedObject): boolean {
  return namespaces.some((each) => each.metadata.name === metadata.namespace);
}

/** Reports whether a replica of a component could have created the Lease. */
function isOfComponent({ metadata: { name, labels } }: ManagedObject): boolean {
  const component = PROCESSES.find((each) => each.name === labels?.[LABEL_COMPONENT]);
  return component !== undefined && name.startsWith(leasePrefix(component));
}

/** Returns each object once, even with several of the labels. */
async function listMetadata(
  client: Client,
  { kind, of, selectors, within, whole = false }: Listing,
): Promise<readonly ManagedObject[]> {
  const found = new Map<string, ManagedObject>();
  for (const labelSelector of selectors) {
    const objects = await listObjects<ManagedObject>(client, of, {
      namespace: within,
      labelSelector,
      ...(whole ? {} : { accept: METADATA_LIST }),
      keep: ({ metadata }) => metadata.deletionTimestamp === undefined,
    }).catch(ignoreNotFound);
    // Without the API, none of its objects remain.
    for (const object of objects ?? []) {
      const { metadata } = object;
      const key = `${metadata.namespace ?? ''}/${metadata.name}`;
      found.set(key, { ...(whole ? object : {}), apiVersion: of.apiVersion, kind, metadata });
    }
  }
  return [...found.values()];
}

/**
 * Reports whether a Secret is of a user who let a signer use it: it goes with its namespace, and no
 * label of ours names it.
 */
function isGiven({ metadata: { annotations = {} } }: ManagedObject): boolean {
  return SIGNER_NAME in annotations;
}

function includes(objects: readonly ManagedObject[], { metadata: own }: ManagedObject): boolean {
  return objects.some(
    ({ metadata }) => metadata.name === own.name && metadata.namespace === own.namespace,
  );
}

function hasFinalizer({ metadata }: ManagedObject): boolean {
  return (metadata.finalizers ?? []).length > 0;
}
