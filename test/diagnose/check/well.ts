// SPDX-License-Identifier: Apache-2.0
/** A cluster and an installation in which all is well. Each test changes one thing. */
import { COMPONENTS } from '#install/component-list.ts';
import { admissionOf } from '#install/admission/policy-list.ts';
import { installationNames } from '#install/installation-names.ts';
import { roleManifests } from '#install/roles.ts';
import { permissionNamesOf } from '#install/names.ts';
import { flowControlOf } from '#install/workloads/availability.ts';
import type { LiveAdmission } from '#install/admission/compare.ts';
import type { Lease } from '#kube/lease/lease.ts';
import type {
  Binding,
  InstallationFacts,
  KubernetesFacts,
  PodFacts,
  SignerFacts,
  WaitingRequest,
} from '#diagnose/check/facts.ts';
import type { Finding } from '#diagnose/check/finding.ts';
import type { CheckId } from '#diagnose/check/catalogue.ts';
import { runChecks } from '#diagnose/check/run-checks.ts';
import { NOW, at, state } from '../../operations/signer-states.ts';

export const RELEASE = '1.2.3';

export const kubernetes: KubernetesFacts = {
  clockOffset: 200,
  version: { value: 'v1.37.1' },
  served: { value: { podcertificaterequests: ['v1'], clustertrustbundles: ['v1'] } },
  kubelets: { value: [{ node: 'a', version: 'v1.37.1' }] },
  webhooks: { value: [] },
};

const PLACE = {
  secretNamespace: 'countersign-keys',
  servingSigner: 'countersign.dev/serving',
};

export function signersOf(...states: readonly ReturnType<typeof state>[]): SignerFacts {
  const { leftOut: _leftOut, ...names } = installationNames(
    states.map(({ signer }) => signer),
    PLACE,
  );
  const installation = {
    ...names,
    namespace: 'countersign-system',
    servingSigner: PLACE.servingSigner,
  };
  return { states, invalid: [], installation };
}

export function lease(
  component: string,
  changes: Partial<Lease['metadata']> = {},
  ago = 2_000,
): Lease {
  return {
    metadata: {
      name: `countersign-${component}-1`,
      namespace: 'countersign-system',
      uid: component,
      resourceVersion: '1',
      labels: { 'app.kubernetes.io/component': component },
      ...changes,
    },
    spec: { holderIdentity: 'x', leaseDurationSeconds: 15, renewTime: at(-ago) },
  };
}

/** As the API server would have what we print. */
function policiesOf({ installation }: SignerFacts): ReadonlyMap<string, LiveAdmission> {
  const live = new Map<string, LiveAdmission>();
  for (const each of [...admissionOf(installation).values()].flat()) {
    const { name } = each['metadata'] as { readonly name: string };
    const before = live.get(name) ?? { policy: undefined, binding: undefined };
    const part = each['kind'] === 'ValidatingAdmissionPolicy' ? 'policy' : 'binding';
    live.set(name, { ...before, [part]: each });
  }
  return live;
}

export const workload = signersOf(state());

/** The bindings that `countersign rbac` prints. */
export function bindingsOf({ installation }: SignerFacts): readonly Binding[] {
  return [...COMPONENTS].flatMap(([component, description]) => {
    const rules = description.permissions(permissionNamesOf(description, installation));
    return roleManifests(component, 'countersign-system', rules)
      .filter(({ kind }) => String(kind).endsWith('Binding'))
      .map((each) => {
        const { metadata, roleRef } = each as {
          readonly metadata: { readonly namespace?: string };
          readonly roleRef: Binding['role'];
        };
        const role = { kind: roleRef.kind, name: roleRef.name };
        const accounts = [`countersign-system/countersign-${component}`];
        const { namespace } = metadata;
        return namespace === undefined ? { role, accounts } : { namespace, role, accounts };
      });
  });
}

const NO_PODS: PodFacts = {
  mounting: [],
  trusting: [],
  requests: [],
  revocations: [],
  quotas: [],
  warnings: new Map(),
  services: { value: [] },
};

export const installed: InstallationFacts = {
  now: NOW,
  namespace: 'countersign-system',
  bindings: { value: bindingsOf(workload) },
  accounts: { value: [...COMPONENTS.keys()].map((component) => `countersign-${component}`) },
  apiServices: { value: [] },
  definitions: {
    value: ['clustersigners.countersign.dev', 'signers.countersign.dev'].map((name) => ({
      name,
      established: true,
      served: ['v1alpha1'],
      release: RELEASE,
    })),
  },
  deployments: {
    value: [...COMPONENTS.keys()].map((component) => ({
      name: `countersign-${component}`,
      component,
      image: 'x:1',
      wanted: 2,
      available: 2,
      args: [component, '--ledger-mode=best-effort'],
    })),
  },
  installer: { kind: 'manifests' },
  operated: { value: [] },
  leases: { value: [...COMPONENTS.keys()].map((component) => lease(component)) },
  roles: {
    value: new Map(
      [...COMPONENTS].map(([name, description]) => [
        name,
        description.permissions(permissionNamesOf(description, workload.installation)),
      ]),
    ),
  },
  policies: { value: policiesOf(workload) },
  flowControl: { value: flowControlOf('countersign-system') as never },
  signers: { value: workload },
  requests: { value: [] },
  pods: { value: NO_PODS },
  annotated: { value: [] },
  acme: { value: { signers: [], invalid: [], orders: { value: [] } } },
  external: { value: { signers: [], invalid: [] } },
};

export function waiting(seconds: number, changes: Partial<WaitingRequest> = {}): WaitingRequest {
  return {
    object: 'podcertificaterequest/web',
    namespace: 'team-a',
    signerName: 'example.com/workload',
    since: NOW - seconds * 1000,
    waitsForApproval: false,
    ...changes,
  };
}

/** What one check finds when these facts are otherwise. */
export function findingsOf(
  id: CheckId,
  changes: {
    readonly kubernetes?: Partial<KubernetesFacts>;
    readonly installed?: Partial<InstallationFacts>;
  } = {},
): readonly Finding[] {
  return runChecks({
    kubernetes: { ...kubernetes, ...changes.kubernetes },
    installed: { ...installed, ...changes.installed },
    release: RELEASE,
  }).filter((each) => each.id === id);
}

/** The Leases of all components but one. */
export function leasesWithout(component: string): readonly Lease[] {
  return [...COMPONENTS.keys()].filter((each) => each !== component).map((each) => lease(each));
}
