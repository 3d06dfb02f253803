// SPDX-License-Identifier: Apache-2.0
/** Objects of the ledger, and the access of components to it. */
import {
  FILLED_BY,
  LEDGER_API,
  LEDGER_API_SERVICE,
  LEDGER_PROXY_NAME,
  LEDGER_SERVICE,
  OWN_TLS_CONFIG_MAP,
} from '#api/signer/own-tls.ts';
import { CSR_RESOURCE } from '#api/request/csr.ts';
import { CHECKPOINTS, FINDINGS, LOG_KEY_SECRET, UPLOADS } from '#ledger/ledger/objects.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { APPEND_AUDIENCE } from '#ledger/sender/wire.ts';
import { CHECKPOINT_DIRECTORY, CHECKPOINT_SECRET } from '../checkpoint-arguments.ts';
import { COMPONENTS, type ComponentName } from '../component-list.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { labelsOf } from '../names.ts';
import type { Manifest } from '../roles.ts';
import { DATABASE_DIRECTORY, DATABASE_VOLUME } from '../ledger-database.ts';

const LEDGER = 'ledger';
/** `authority` writes the ledger's CA into the APIService. */
const AUTHORITY = 'authority';
/** Directory of the token and the CA in the components' flags (app/ledger/options.ts). */
const DIRECTORY = '/run/countersign/ledger';
/** Lifetime of a token. The kubelet renews it after four fifths. */
const TOKEN_SECONDS = 3600;
const DEFAULT_SIZE = '10Gi';
const DATA_VOLUME = 'data';
const CHECKPOINTS_VOLUME = 'checkpoints';
/** The volume of a token for the ledger, and of its CA. */
const TOKEN_VOLUME = 'ledger';

/**
 * Returns the volume of the data, and objects that start empty: the Secret of the log's key, and
 * the ConfigMaps of checkpoints, of findings, and of uploaded certificates. They have no data, so
 * applying them again keeps what was filled in. An administrator binds users to the ClusterRole of
 * readers, in one namespace or in all, and to that of clients.
 */
export function ledgerObjects(plan: InstallationPlan): readonly Manifest[] {
  const { storage } = COMPONENTS.get(LEDGER) ?? {};
  if (storage === undefined || !plan.components.has(LEDGER)) return [];
  const metadata = (name: string): Manifest => ({
    name,
    namespace: plan.installation.namespace,
    labels: labelsOf(LEDGER),
  });
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata: metadata(LOG_KEY_SECRET), type: 'Opaque' },
    ...[CHECKPOINTS, FINDINGS, UPLOADS].map((name) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: metadata(name),
    })),
    ...(plan.parts.ledgerPostgres === undefined ? [claim(metadata(storage.claim), plan)] : []),
    ...ledgerRoles(),
  ];
}

function claim(metadata: Manifest, { parts }: InstallationPlan): Manifest {
  const { size, className } = parts.ledgerStorage ?? { size: DEFAULT_SIZE };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(className === undefined ? {} : { storageClassName: className }),
      resources: { requests: { storage: size } },
    },
  };
}

/** The ClusterRole of users who read records, and its rules. */
const READER_ROLE = 'countersign-ledger-reader';
const READS = { apiGroups: [LEDGER_API.group], verbs: ['get', 'list'] };
export const READER_RULES: readonly PermissionRule[] = [
  { ...READS, resources: ['records'] },
  { ...READS, resources: ['logs', 'logs/checkpoint', 'logs/checkpoints', 'logs/tile'] },
];

/**
 * The ClusterRole of users who call the ledger directly, and its rules. It does not show them
 * records.
 */
const CLIENT_ROLE = 'countersign-ledger-client';
export const CLIENT_RULES: readonly PermissionRule[] = [
  // The API server records the creator, which is the only purpose of this object.
  { apiGroups: [CSR_RESOURCE.group], resources: [CSR_RESOURCE.plural], verbs: ['create'] },
  {
    apiGroups: [''],
    resources: ['services/proxy'],
    resourceNames: [LEDGER_PROXY_NAME],
    verbs: ['get', 'create'],
  },
  {
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: [OWN_TLS_CONFIG_MAP],
    verbs: ['get'],
  },
];

function ledgerRoles(): readonly Manifest[] {
  return [roleOf(READER_ROLE, READER_RULES), roleOf(CLIENT_ROLE, CLIENT_RULES)];
}

function roleOf(name: string, rules: readonly PermissionRule[]): Manifest {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels: labelsOf(LEDGER) },
    rules,
  };
}

/**
 * Returns the APIService for `kubectl get records`, which is opt-in: while the ledger is down, the
 * API server deletes no namespace of the cluster.
 */
export function ledgerApiService(plan: InstallationPlan): readonly Manifest[] {
  const { namespace, servingSigner } = plan.installation;
  if (plan.parts.ledgerApiService !== true || !plan.components.has(LEDGER)) return [];
  const { group, version } = LEDGER_API;
  return [
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: {
        name: LEDGER_API_SERVICE,
        labels: labelsOf(LEDGER),
        annotations: { [FILLED_BY]: servingSigner },
      },
      spec: {
        group,
        version,
        groupPriorityMinimum: 1000,
        versionPriority: 10,
        service: { name: LEDGER_SERVICE, namespace, port: 443 },
      },
    },
  ];
}

/**
 * Returns the ledger's arguments for appenders and their signers, or a component's arguments for
 * appending and reading.
 */
export function ledgerArguments(
  component: ComponentName,
  plan: InstallationPlan,
): readonly string[] {
  if (component === LEDGER) return [...aggregatedApiArguments(plan), ...appenderArguments(plan)];
  const aggregated = component === AUTHORITY ? aggregatedApiArguments(plan) : [];
  if (!callsLedger(component, plan)) return aggregated;
  const { ledgerMode } = plan.parts;
  const host = `${LEDGER_SERVICE}.${plan.installation.namespace}.svc`;
  return [
    ...aggregated,
    ...(records(component, plan) ? [`--ledger-mode=${ledgerMode}`] : []),
    `--ledger=https://${host}`,
    ...(readsRecords(component, plan) ? ['--ledger-facts'] : []),
  ];
}

/** Returns the arguments for the aggregated API. */
function aggregatedApiArguments({ installation }: InstallationPlan): readonly string[] {
  return installation.aggregatedApi === true ? ['--aggregated-api'] : [];
}

function records(component: ComponentName, { parts }: InstallationPlan): boolean {
  return parts.ledgerMode !== undefined && COMPONENTS.get(component)?.records === true;
}

/** Reports whether a component reads records. Without recording there are none. */
function readsRecords(component: ComponentName, plan: InstallationPlan): boolean {
  const { installation, parts } = plan;
  if (installation.ledgerFacts !== true || parts.ledgerMode === undefined) return false;
  return COMPONENTS.get(component)?.readsRecords === true;
}

/** Returns the arguments for the log's origin, and for appenders and their signers. */
function appenderArguments(plan: InstallationPlan): readonly string[] {
  const { components, installation, parts } = plan;
  return [
    `--origin=countersign.${installation.namespace}/ledger`,
    ...(parts.ledgerArguments ?? []),
    ...[...components.keys()]
      .filter((each) => COMPONENTS.get(each)?.records === true)
      .flatMap((each) =>
        signersOf(each, installation).map((signer) => `--appender=${each}=${signer}`),
      ),
  ];
}

/** Returns the signer names that a component records about. */
function signersOf(
  component: ComponentName,
  { signers, servingSigner, acme, external }: InstallationPlan['installation'],
): readonly string[] {
  const { servesAcme, approvesAcme, servesExternal, approvesExternal, servesOwnTls } =
    COMPONENTS.get(component) ?? {};
  if (servesOwnTls === true) return [...new Set([...signers, servingSigner])];
  const isOfOthers = servesAcme === true || servesExternal === true;
  const all = [
    { names: signers, isNamed: !isOfOthers },
    { names: acme?.signers, isNamed: servesAcme ?? approvesAcme },
    { names: external?.signers, isNamed: servesExternal ?? approvesExternal },
  ];
  return all.flatMap(({ names = [], isNamed }) => (isNamed === true ? names : []));
}

/**
 * Returns the volume with the ledger's data, or those with a token for it and the CA of its port.
 */
export function ledgerVolumes(
  component: ComponentName,
  plan: InstallationPlan,
): readonly Manifest[] {
  const { storage } = COMPONENTS.get(component) ?? {};
  if (storage !== undefined) {
    const { ledgerPostgres: secretName } = plan.parts;
    return [
      secretName === undefined
        ? { name: DATA_VOLUME, persistentVolumeClaim: { claimName: storage.claim } }
        : { name: DATABASE_VOLUME, secret: { secretName } },
      // Optional Secret of the user, with credentials of the places outside the cluster.
      { name: CHECKPOINTS_VOLUME, secret: { secretName: CHECKPOINT_SECRET, optional: true } },
    ];
  }
  if (!callsLedger(component, plan)) return [];
  const token = { audience: APPEND_AUDIENCE, expirationSeconds: TOKEN_SECONDS, path: 'token' };
  const ca = { key: 'ca.crt', path: 'ca.crt' };
  return [
    {
      name: TOKEN_VOLUME,
      projected: {
        sources: [
          { serviceAccountToken: token },
          // Optional: the component starts before authority has filled it in.
          { configMap: { name: OWN_TLS_CONFIG_MAP, items: [ca], optional: true } },
        ],
      },
    },
  ];
}

/** Returns the mounts of those volumes. */
export function ledgerMounts(
  component: ComponentName,
  plan: InstallationPlan,
): readonly Manifest[] {
  const { storage } = COMPONENTS.get(component) ?? {};
  if (storage !== undefined) {
    return [
      plan.parts.ledgerPostgres === undefined
        ? { name: DATA_VOLUME, mountPath: storage.mountPath }
        : { name: DATABASE_VOLUME, mountPath: DATABASE_DIRECTORY, readOnly: true },
      { name: CHECKPOINTS_VOLUME, mountPath: CHECKPOINT_DIRECTORY, readOnly: true },
    ];
  }
  if (!callsLedger(component, plan)) return [];
  return [{ name: TOKEN_VOLUME, mountPath: DIRECTORY, readOnly: true }];
}

/**
 * Reports whether a component appends or reads, so that it needs a token and the CA of the port.
 */
function callsLedger(component: ComponentName, plan: InstallationPlan): boolean {
  return records(component, plan) || readsRecords(component, plan);
}
