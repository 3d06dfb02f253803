// SPDX-License-Identifier: Apache-2.0
/** What the ledger keeps, and how components reach it. */
import {
  FILLED_BY,
  LEDGER_API,
  LEDGER_API_SERVICE,
  LEDGER_SERVICE,
  OWN_TLS_CONFIG_MAP,
} from '../../api/signer/own-tls.ts';
import { CHECKPOINTS } from '../../controllers/ledger/checkpoints.ts';
import { FINDINGS } from '../../controllers/ledger/monitor/unrecorded.ts';
import { UPLOADS } from '../../controllers/ledger/monitor/watches.ts';
import { LOG_KEY_SECRET } from '../../controllers/ledger/log-key.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { APPEND_AUDIENCE } from '../../ledger/sender/wire.ts';
import { CHECKPOINT_DIRECTORY, CHECKPOINT_SECRET } from '../checkpoint-arguments.ts';
import { COMPONENTS, type ComponentName } from '../components.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { labelsOf } from '../names.ts';
import type { Manifest } from '../roles.ts';
import { DATABASE_DIRECTORY, DATABASE_VOLUME } from '../ledger-database.ts';

const LEDGER = 'ledger';
/** Where the flags of components look for the token and the CA (app/ledger/options.ts). */
const DIRECTORY = '/run/countersign/ledger';
/** The kubelet renews a token after four fifths of its life. */
const TOKEN_SECONDS = 3600;
const DEFAULT_SIZE = '10Gi';

/**
 * The volume of the data, and objects that are made empty: the Secret of the log's key, and the ConfigMaps of checkpoints, of
 * findings, and of certificates that people upload. They have no data, so applying them again leaves what was filled in.
 * The APIService has no `caBundle`: `authority` fills it in. Who reads records is bound to the ClusterRole, in a namespace or in all.
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
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata(name) },
    })),
    ...(plan.parts.ledgerPostgres === undefined ? [claim(metadata(storage.claim), plan)] : []),
    ...apiObjects(plan),
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

/** The ClusterRole of those who read records, and its rules. */
const READER_ROLE = 'countersign-ledger-reader';
const READS = { apiGroups: [LEDGER_API.group], verbs: ['get', 'list'] };
export const READER_RULES: readonly PermissionRule[] = [
  { ...READS, resources: ['records'] },
  { ...READS, resources: ['logs', 'logs/checkpoint', 'logs/checkpoints', 'logs/tile'] },
];

function apiObjects({
  installation: { namespace, servingSigner },
}: InstallationPlan): readonly Manifest[] {
  const { group, version } = LEDGER_API;
  const labels = labelsOf(LEDGER);
  return [
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: {
        name: LEDGER_API_SERVICE,
        labels,
        annotations: { [FILLED_BY]: servingSigner },
      },
      spec: {
        ...{ group, version, groupPriorityMinimum: 1000, versionPriority: 10 },
        service: { name: LEDGER_SERVICE, namespace, port: 443 },
      },
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: READER_ROLE, labels },
      rules: READER_RULES,
    },
  ];
}

/** Who may append about which signers; or where a component appends, and how, and whether it reads. */
export function ledgerArguments(
  component: ComponentName,
  plan: InstallationPlan,
): readonly string[] {
  if (component === LEDGER) return grantsOf(plan);
  const { ledgerMode } = plan.parts;
  const reads = readsRecords(component, plan) ? ['--ledger-facts'] : [];
  if (ledgerMode === undefined || !records(component, plan)) return reads;
  const host = `${LEDGER_SERVICE}.${plan.installation.namespace}.svc`;
  return [`--ledger-mode=${ledgerMode}`, `--ledger=https://${host}`, ...reads];
}

function readsRecords(component: ComponentName, { installation }: InstallationPlan): boolean {
  return installation.ledgerFacts === true && COMPONENTS.get(component)?.readsRecords === true;
}

function grantsOf(plan: InstallationPlan): readonly string[] {
  const { components, installation, parts } = plan;
  return [
    `--origin=countersign.${installation.namespace}/ledger`,
    ...(parts.ledgerArguments ?? []),
    ...[...components.keys()]
      .filter((each) => COMPONENTS.get(each)?.records === true)
      .flatMap((each) =>
        namesOf(each, installation).map((signer) => `--appender=${each}=${signer}`),
      ),
  ];
}

/** The signer names that a component records about. */
function namesOf(
  component: ComponentName,
  { signers, servingSigner, acme }: InstallationPlan['installation'],
): readonly string[] {
  const ofAcme = acme?.signers ?? [];
  const { servesAcme, approvesAcme, servesOwnTls } = COMPONENTS.get(component) ?? {};
  if (servesOwnTls === true) return [...new Set([...signers, servingSigner])];
  if (servesAcme === true) return ofAcme;
  return approvesAcme === true ? [...signers, ...ofAcme] : signers;
}

/** The data of the ledger; or a token for it and the CA of its port. */
export function ledgerVolumes(
  component: ComponentName,
  plan: InstallationPlan,
): readonly Manifest[] {
  const { storage } = COMPONENTS.get(component) ?? {};
  if (storage !== undefined) {
    const { ledgerPostgres: secretName } = plan.parts;
    return [
      secretName === undefined
        ? { name: 'data', persistentVolumeClaim: { claimName: storage.claim } }
        : { name: DATABASE_VOLUME, secret: { secretName } },
      // Optional: yours, with what the places outside the cluster need.
      { name: 'checkpoints', secret: { secretName: CHECKPOINT_SECRET, optional: true } },
    ];
  }
  if (!records(component, plan)) return [];
  const token = { audience: APPEND_AUDIENCE, expirationSeconds: TOKEN_SECONDS, path: 'token' };
  const ca = { key: 'ca.crt', path: 'ca.crt' };
  return [
    {
      name: 'ledger',
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

/** Where those volumes are mounted. */
export function ledgerMounts(
  component: ComponentName,
  plan: InstallationPlan,
): readonly Manifest[] {
  const { storage } = COMPONENTS.get(component) ?? {};
  if (storage !== undefined) {
    return [
      plan.parts.ledgerPostgres === undefined
        ? { name: 'data', mountPath: storage.mountPath }
        : { name: DATABASE_VOLUME, mountPath: DATABASE_DIRECTORY, readOnly: true },
      { name: 'checkpoints', mountPath: CHECKPOINT_DIRECTORY, readOnly: true },
    ];
  }
  if (!records(component, plan)) return [];
  return [{ name: 'ledger', mountPath: DIRECTORY, readOnly: true }];
}

function records(component: ComponentName, { parts }: InstallationPlan): boolean {
  return parts.ledgerMode !== undefined && COMPONENTS.get(component)?.records === true;
}
