// SPDX-License-Identifier: Apache-2.0
/** What a component that was taken over tries with Events. */
import type { Call } from './attempts.ts';

const SYSTEM = 'countersign-system';

/** An Event in the name of the kubelet. */
export const FORGED = {
  verb: 'create',
  path: '/apis/events.k8s.io/v1/namespaces/default/events',
  body: {
    metadata: { name: 'forged', namespace: 'default' },
    reportingController: 'kubelet',
    reportingInstance: 'a',
    action: 'Attack',
    reason: 'Attack',
    type: 'Normal',
    note: 'x',
    eventTime: '2026-01-01T00:00:00.000000Z',
    regarding: { kind: 'Node', name: 'a' },
  },
} satisfies Call;

/** The same where notifier may write Events. */
export const FORGED_BESIDE = {
  ...FORGED,
  path: `/apis/events.k8s.io/v1/namespaces/${SYSTEM}/events`,
  body: {
    ...FORGED.body,
    metadata: { name: 'forged', namespace: SYSTEM },
    regarding: { kind: 'ConfigMap', name: 'countersign-notifier', namespace: SYSTEM },
  },
} satisfies Call;
