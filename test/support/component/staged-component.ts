// SPDX-License-Identifier: Apache-2.0
import type { Component } from '#component/contract.ts';
import type { LeaseStage } from '../kube/lease-replica.ts';
import { recordedComponent } from './recorded-component.ts';

/** A component `authority` that reads the Leases of this stage, by the stage's clock. */
export function stagedComponent({ api, time }: LeaseStage): Component {
  return recordedComponent({
    client: api.client('authority'),
    clock: time.clock,
    monotonic: time.clock,
    delay: time.delay,
    leases: { namespace: 'ns', secretNamespaces: ['countersign-keys'] },
  });
}
