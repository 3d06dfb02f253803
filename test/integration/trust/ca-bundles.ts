// SPDX-License-Identifier: Apache-2.0
/** An object of each kind that has a `caBundle`, annotated by its owner, and what it holds. */
import type { CaBundleTarget } from '#api/object/ca-bundle-target.ts';

/** One of each kind. */
export const CA_BUNDLES: readonly CaBundleTarget[] = [
  { resource: 'validatingwebhookconfigurations', name: 'trusting' },
  { resource: 'mutatingwebhookconfigurations', name: 'trusting' },
  { resource: 'apiservices', name: 'v1.trusting.example.org' },
  { resource: 'customresourcedefinitions', name: 'things.trusted.example.org' },
];

const SERVICE = { namespace: 'wanting', name: 'hook' };

function webhook(name: string): object {
  const rule = { apiGroups: ['none.example.org'], apiVersions: ['v1'], resources: ['*'] };
  return {
    name,
    sideEffects: 'None',
    failurePolicy: 'Ignore',
    admissionReviewVersions: ['v1'],
    clientConfig: { service: { ...SERVICE, path: `/${name}` } },
    rules: [{ ...rule, operations: ['CREATE'] }],
  };
}

const SCHEMA = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const BODIES: Readonly<Record<CaBundleTarget['resource'], object>> = {
  validatingwebhookconfigurations: {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    webhooks: [webhook('a.trusting.example.org'), webhook('b.trusting.example.org')],
  },
  mutatingwebhookconfigurations: {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    webhooks: [webhook('c.trusting.example.org')],
  },
  apiservices: {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    spec: {
      group: 'trusting.example.org',
      version: 'v1',
      service: SERVICE,
      groupPriorityMinimum: 100,
      versionPriority: 10,
    },
  },
  customresourcedefinitions: {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    spec: {
      group: 'trusted.example.org',
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } },
        { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: SCHEMA } },
      ],
      conversion: {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v1'], clientConfig: { service: SERVICE } },
      },
    },
  },
};

/** {@link CA_BUNDLES} as YAML. @param signerName - whom their owners name */
export function objectsWithCaBundles(signerName: string): string {
  return CA_BUNDLES.map(({ resource, name }) =>
    JSON.stringify({
      ...BODIES[resource],
      metadata: { name, annotations: { 'countersign.dev/signer-name': signerName } },
    }),
  ).join('\n---\n');
}

/** Every `caBundle` of an object, as PEM; '' where there is room for one and none is there. */
export function configured(object: unknown): readonly string[] {
  if (typeof object !== 'object' || object === null) return [];
  return Object.entries(object as Readonly<Record<string, unknown>>).flatMap(([key, value]) =>
    key === 'service' ? [pemOf(object)] : configured(value),
  );
}

function pemOf({ caBundle = '' }: { readonly caBundle?: string }): string {
  return Buffer.from(caBundle, 'base64').toString();
}

/** JSON pointer of the first `caBundle` of an object. */
export function pathOf({ resource }: CaBundleTarget): string {
  return `${PATHS[resource]}/caBundle`;
}

const PATHS: Readonly<Record<CaBundleTarget['resource'], string>> = {
  validatingwebhookconfigurations: '/webhooks/0/clientConfig',
  mutatingwebhookconfigurations: '/webhooks/0/clientConfig',
  apiservices: '/spec',
  customresourcedefinitions: '/spec/conversion/webhook/clientConfig',
};

/** What its owner wrote: all but `caBundle`, the status, and what the API server counts. */
export function withoutCaBundles(object: object): unknown {
  const { metadata, status: _status, ...rest } = object as Readonly<Record<string, unknown>>;
  const { labels, annotations, ownerReferences, finalizers } = metadata as Readonly<
    Record<string, unknown>
  >;
  const kept = { labels, annotations, ownerReferences, finalizers };
  const text = JSON.stringify({ ...rest, kept }, (key, value: unknown) =>
    key === 'caBundle' ? undefined : value,
  );
  return JSON.parse(text);
}
