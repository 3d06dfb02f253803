// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';

/** The object around `spec`, as the API server hands it out. */
export function clusterSigner(spec: unknown): KubeObject & { readonly spec: unknown } {
  return {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'ClusterSigner',
    metadata: {
      name: 'workload',
      uid: '5d7b4a1c-0000-4000-8000-000000000001',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-11-21T06:00:00Z',
    },
    spec,
  };
}

/** The spec of design §2 as a user writes it: what tests start from. */
export function workloadSpec(): Record<string, unknown> {
  return {
    signerName: 'example.com/workload',
    authority: {
      managed: {
        secret: { namespace: 'countersign-keys', name: 'workload-ca' },
        commonName: 'Example workload CA',
        renewBefore: '1752h',
      },
    },
    profile: {
      keyTypes: ['ECDSAP256', 'ED25519'],
      usages: ['digital signature', 'client auth', 'server auth'],
    },
    pods: {
      allow: "pod.namespace.startsWith('team-')",
      uris: ["'spiffe://cluster.local/ns/' + pod.namespace + '/sa/' + pod.serviceAccount"],
      annotations: [{ key: 'example.com/role', pattern: '[a-z0-9-]{1,32}' }],
    },
    requests: {
      copy: ['commonName', 'organizations'],
      rules: [
        {
          name: 'own-name',
          when: 'request.username == csr.subject.commonName',
          allow: {
            commonName: 'self == request.username',
            organizations: 'self in request.groups',
            usages: ['digital signature', 'client auth'],
          },
        },
      ],
      deny: [
        {
          name: 'no-robots',
          when: "request.username.startsWith('robot:')",
          message: 'robots use podCertificate volumes',
        },
      ],
    },
    trustBundle: { name: 'primary' },
  };
}

/** `value` with what lies at `path` ("profile.keyTypes.0") replaced; `undefined` removes it. */
export function changed(
  value: Record<string, unknown>,
  path: string,
  replacement: unknown,
): Record<string, unknown> {
  const copy = structuredClone(value);
  const parts = path.split('.');
  const last = parts.pop() ?? '';
  let target = copy;
  for (const part of parts) target = target[part] as Record<string, unknown>;
  if (replacement === undefined) Reflect.deleteProperty(target, last);
  else target[last] = replacement;
  return copy;
}

/** `spec` without these fields. */
export function without(
  spec: Record<string, unknown>,
  ...fields: readonly string[]
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !fields.includes(field)));
}
