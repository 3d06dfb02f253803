// SPDX-License-Identifier: Apache-2.0
import * as z from 'zod';
import { readCaBundleTarget, type CaBundleTarget } from '#api/object/ca-bundle-target.ts';

/** Names of objects in roles. They have no quote, wildcard, space or backslash. */
const names = z.array(
  z
    .string()
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/),
);

/** Value `caBundles`: names of objects, by their kind. */
export const caBundles = z
  .strictObject({
    validatingWebhookConfigurations: names.describe(
      'Names of ValidatingWebhookConfigurations. No policy can guard these.',
    ),
    mutatingWebhookConfigurations: names.describe(
      'Names of MutatingWebhookConfigurations. No policy can guard these.',
    ),
    apiServices: names.describe('Names of APIServices.'),
    customResourceDefinitions: names.describe(
      'Names of CustomResourceDefinitions with a conversion webhook.',
    ),
  })
  .describe(
    'Objects into whose `caBundle` `trust-distributor` writes, where it is enabled and their owners annotated them.',
  );

/** Returns the targets in the order of the values, which is that of the chart's arguments. */
export function caBundleTargets(given: z.infer<typeof caBundles>): readonly CaBundleTarget[] {
  return Object.entries(given).flatMap(([kind, named]) =>
    named.map((name) => readCaBundleTarget(`${kind.toLowerCase()}/${name}`)),
  );
}
