// SPDX-License-Identifier: Apache-2.0
import * as z from 'zod';
import { EVENT_NAMES } from '#api/object/event-names.ts';
import { fields } from './kubernetes-fields.ts';

/** A URL without blanks and without characters that end an argument. */
const MAX_URL_LENGTH = 2000;

const target = z.strictObject({
  name: z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    .describe('Its name in metrics, and the key of its secret.'),
  url: z
    .string()
    .max(MAX_URL_LENGTH)
    .regex(/^https:\/\/[!#-[\]-z|~]+$/)
    .describe('An https URL that events are POSTed to.'),
  events: z
    .array(z.enum(EVENT_NAMES))
    .readonly()
    .exactOptional()
    .describe('The events that it gets. If left out, all.'),
  handshake: z
    .string()
    .max(253)
    .regex(/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$/)
    .exactOptional()
    .describe(
      'A DNS name: first request permission to send events from it (WebHook-Request-Origin).',
    ),
});

/** Value `notifications`. */
export const notifications = z
  .strictObject({
    targets: z.array(target).readonly().describe('The targets.'),
    networks: z
      .array(
        z
          .string()
          .max(49)
          .regex(/^[0-9a-f.:]+(\/[0-9]{1,3})?$/),
      )
      .readonly()
      .describe('Networks outside of the Internet that targets may be in: `10.96.0.0/12`.'),
    ownCa: z.boolean().describe('Trust only the CAs in the key `ca.crt`, not those of Node.js.'),
    source: z
      .string()
      .max(MAX_URL_LENGTH)
      .regex(/^([!#-[\]-z|~]+)?$/)
      .describe('`source` of all events: a URI reference that names this cluster.'),
    expiring: z
      .string()
      .regex(/^[0-9]+[smhd]$/)
      .describe('Notify this long before an unrenewed certificate expires.'),
    rate: z.int().min(1).max(1000).describe('Calls a second to each target at most.'),
    pods: z
      .boolean()
      .describe(
        'Notify of certificates that pods have not renewed: `notifier` may then read pods.',
      ),
    egress: z
      .array(fields)
      .describe(
        'Where `networkPolicy.enabled` lets `notifier` connect to (networking/v1 NetworkPolicyEgressRule).',
      ),
  })
  .describe(
    'Targets of `components.notifier` and their events. Their secrets are in Secret `countersign-notifier-targets`, which you make in the namespace of the components: docs/how-to/notify.md.',
  );
