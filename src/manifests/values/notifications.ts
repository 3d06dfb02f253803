// SPDX-License-Identifier: Apache-2.0
import { z } from 'zod';
import { EVENT_NAMES } from '../../api/object/event-names.ts';

/** No blank, and nothing that ends an argument. */
const MOST_URL = 2000;

const target = z.strictObject({
  name: z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    .describe('Its name in metrics, and the key of its secret.'),
  url: z
    .string()
    .max(MOST_URL)
    .regex(/^https:\/\/[!#-[\]-z|~]+$/)
    .describe('An https URL that events are POSTed to.'),
  events: z
    .array(z.enum(EVENT_NAMES))
    .readonly()
    .exactOptional()
    .describe('What it is told; if left out, everything.'),
  handshake: z
    .string()
    .max(253)
    .regex(/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$/)
    .exactOptional()
    .describe('A DNS name: ask first whether it allows events of it (WebHook-Request-Origin).'),
});

/** The value `notifications`. */
export const notifications = z
  .strictObject({
    targets: z.array(target).readonly().describe('Whom to tell.'),
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
      .max(MOST_URL)
      .regex(/^([!#-[\]-z|~]+)?$/)
      .describe('`source` of all events: a URI reference that names this cluster.'),
    expiring: z
      .string()
      .regex(/^[0-9]+[smhd]$/)
      .describe('How long before its end a certificate is told of that nobody has renewed.'),
    rate: z.int().min(1).max(1000).describe('Calls a second to each target at most.'),
    pods: z
      .boolean()
      .describe('Tell of certificates that pods have not renewed: `notifier` may then read pods.'),
    egress: z
      .array(z.record(z.string(), z.unknown()))
      .describe(
        'Where `networkPolicy.enabled` lets `notifier` connect to (networking/v1 NetworkPolicyEgressRule).',
      ),
  })
  .describe(
    'Whom `components.notifier` tells what happens; their secrets are in Secret `countersign-notifier-targets`, which you make in the namespace of the components: docs/how-to/notify.md.',
  );
