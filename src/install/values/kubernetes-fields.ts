// SPDX-License-Identifier: Apache-2.0
import * as z from 'zod';

const field: z.ZodType = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.array(field), fields]),
);

/**
 * Fields of a Kubernetes object, whose types the API server checks. None may be null. The API
 * server reads null as an absent field, and a rule without destinations or a peer without labels
 * admits all.
 */
export const fields = z.record(z.string(), field).meta({ id: 'kubernetesFields' });
