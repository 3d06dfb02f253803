// SPDX-License-Identifier: Apache-2.0
/** What one namespace's AcmeSigners cost acme-solver, which all namespaces share. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchSolverObjects } from '#acme/acme-solver/watched.ts';
import type { Challenge } from '#api/acme/challenge.ts';
import { acmeObject } from '../../api/acme/build.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { memoryApi } from '../../support/kube/memory-api.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';
import { NOW } from '../acme/requests/build.ts';

/** As in src/component/signers/signer-quota.ts. */
const MAX_SIGNERS_PER_NAMESPACE = 32;

const challengeOf = (name: string): Challenge =>
  ({
    metadata: { namespace: 'team-a', name: 'c' },
    spec: { signerRef: { kind: 'AcmeSigner', name } },
  }) as Challenge;

test('each namespace has a maximum of AcmeSigners, which are kept without annotations', async () => {
  const api = memoryApi();
  const time = fakeTime(NOW);
  for (let index = 0; index <= MAX_SIGNERS_PER_NAMESPACE; index += 1) {
    const object = acmeObject();
    const name = `web-${String(index).padStart(2, '0')}`;
    const annotations = { note: 'y'.repeat(10_000) };
    const metadata = { ...object.metadata, name, uid: name, annotations };
    const path = `/apis/acme.countersign.dev/v1alpha1/namespaces/team-a/acmesigners/${name}`;
    api.put(path, { ...object, metadata });
  }
  const { clock, delay } = time;
  const component = recordedComponent({
    client: api.client,
    clock,
    delay,
    namespacedSigners: true,
  });
  const nothing = (): void => undefined;
  const watched = watchSolverObjects(component, nothing, nothing);
  const stop = new AbortController();
  const running = watched.run(stop.signal);
  for (let turns = 0; turns < 8; turns += 1) await time.advance(0);
  assert.ok(watched.settled());
  const first = watched.signerOf(challengeOf('web-00'));
  assert.equal(first?.metadata.annotations, undefined);
  assert.equal(first?.spec.acme.server, 'https://acme.example/directory');
  const beyond = `web-${MAX_SIGNERS_PER_NAMESPACE}`;
  assert.equal(watched.signerOf(challengeOf(beyond)), undefined);
  stop.abort();
  await time.advance(0);
  await running;
});
