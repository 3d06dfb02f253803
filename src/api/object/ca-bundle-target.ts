// SPDX-License-Identifier: Apache-2.0
/** Objects with a `caBundle`, by which the API server verifies a webhook or an aggregated API. */
import { usageError } from '#base/errors.ts';
import { isKeyOf } from '#base/object-keys.ts';

/** Group and kind by the plural of the resource. All are served as v1 and are cluster-scoped. */
export const CA_BUNDLE_RESOURCES = {
  validatingwebhookconfigurations: {
    group: 'admissionregistration.k8s.io',
    kind: 'ValidatingWebhookConfiguration',
  },
  mutatingwebhookconfigurations: {
    group: 'admissionregistration.k8s.io',
    kind: 'MutatingWebhookConfiguration',
  },
  apiservices: { group: 'apiregistration.k8s.io', kind: 'APIService' },
  customresourcedefinitions: { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' },
} as const;

/** One object with a `caBundle`. */
export interface CaBundleTarget {
  readonly resource: keyof typeof CA_BUNDLE_RESOURCES;
  readonly name: string;
}

/** Returns the target as text, such as `apiservices/v1beta1.metrics.k8s.io`. */
export function caBundleTargetText({ resource, name }: CaBundleTarget): string {
  return `${resource}/${name}`;
}

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * Reads the text that {@link caBundleTargetText} writes.
 *
 * @throws SignerError USAGE (`fail`) for another resource, or an invalid name
 */
export function readCaBundleTarget(text: string): CaBundleTarget {
  const [resource = '', name = '', ...rest] = text.split('/');
  if (isKeyOf(CA_BUNDLE_RESOURCES, resource) && NAME.test(name) && rest.length === 0) {
    return { resource, name };
  }
  throw usageError(
    `"${text.slice(0, 80)}" names no object with a caBundle; write <resource>/<name> with one of ${Object.keys(CA_BUNDLE_RESOURCES).join(', ')}`,
  );
}
