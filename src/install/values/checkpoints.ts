// SPDX-License-Identifier: Apache-2.0
import * as z from 'zod';

/** Patterns without blanks and without characters that end an argument. */
const MAX_PLACE = 2000;
const WITNESS = /^[^+@\s"\\{}]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}@https:\/\/[!#-[\]-z|~]+$/;
const place = z
  .string()
  .max(MAX_PLACE)
  .regex(/^(https:\/\/[!#-[\]-z|~]+)?$/);

/** Value `ledger.checkpoints`. */
export const checkpoints = z
  .strictObject({
    webhook: place.describe('An https URL that each checkpoint is POSTed to; if empty, none.'),
    signWebhook: z
      .boolean()
      .describe('Sign what is sent there (Standard Webhooks) with the key `webhook-secret`.'),
    objectStore: z
      .boolean()
      .describe('PUT each checkpoint to the pre-signed URL in the key `object-url`.'),
    witnesses: z
      .array(z.string().max(MAX_PLACE).regex(WITNESS))
      .readonly()
      .describe('Witnesses (C2SP tlog-witness), each as `<name>+<key ID>+<base64>@<https URL>`.'),
    ownCa: z.boolean().describe('Trust only the CAs in the key `ca.crt`, not those of Node.js.'),
    interval: z
      .string()
      .regex(/^[0-9]+[smhd]$/)
      .describe('How long at least between two checkpoints for one of these places.'),
  })
  .describe(
    'Where checkpoints go outside the cluster; their keys are in Secret `countersign-ledger-checkpoints`, which you make in the namespace of the components.',
  );
