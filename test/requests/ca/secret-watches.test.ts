// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { MissingPermission } from '#kube/client/access-review.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { createSecretWatches, type SecretWatches } from '#requests/ca/secret-watches.ts';
import { until } from '../../cluster/until.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import {
  PATIENCE_MS,
  bookmark,
  startStage,
  type Stage,
} from '../../support/kube/reflector-fixture.ts';
import { componentOn } from '../loop/controlled.ts';

const OURS = '/api/v1/namespaces/countersign-keys/secrets';
const THEIRS = '/api/v1/namespaces/team-a/secrets';

let stage: Stage;
let watches: SecretWatches;
let asked: PermissionRule[];
let granted: boolean;
let heard: string[];

beforeEach(async () => {
  stage = await startStage();
  [asked, granted, heard] = [[], false, []];
  const lacking: MissingPermission = {
    verb: 'watch',
    resource: 'secrets',
    name: 'team-ca',
    namespace: 'team-a',
  };
  const component = componentOn(stage, {
    missingPermissions: (rules) => {
      asked.push(...rules);
      return Promise.resolve(granted ? [] : [lacking]);
    },
  });
  watches = createSecretWatches({ component, onEvent: (key) => heard.push(key) });
});
afterEach(async () => {
  await watches.stop();
  await stage.stop();
});

const failureOf = (signer: ClusterSigner): string | undefined => watches.of(signer)?.failure;

test('a Signer’s Secret is read once permission is granted, and not before', async () => {
  const signer = teamSigner();
  watches.serve([signer]);
  await until('it says so', PATIENCE_MS, () => failureOf(signer) !== undefined);
  assert.match(
    failureOf(signer) ?? '',
    /was not granted watch secrets "team-ca" in namespace team-a; .* adds Secret team-a\/team-ca to namespacedSigners\.secrets in the values .*--signer-secret team-a\/team-ca/,
  );
  assert.deepEqual(asked, [
    {
      apiGroups: [''],
      resources: ['secrets'],
      resourceNames: ['team-ca'],
      verbs: ['list', 'watch'],
      namespace: 'team-a',
    },
  ]);
  granted = true;
  await stage.backoff(800);
  // The first call that the server hears at all.
  const call = await stage.server.next('the watch of the Secret');
  assert.equal(call.path, THEIRS);
  assert.equal(call.query.get('fieldSelector'), 'metadata.name=team-ca');
  call.lines(bookmark(5, true));
  await until('it is read', PATIENCE_MS, () => watches.of(signer)?.synced === true);
  assert.equal(failureOf(signer), undefined);
});

test('a ClusterSigner’s Secret is watched at once, and readiness waits for it', async () => {
  watches.serve([workload()]);
  const call = await stage.server.next('the watch of the Secret');
  assert.deepEqual([call.path, asked], [OURS, []]);
  assert.deepEqual(
    watches.unread().map(([key]) => key),
    ['countersign-keys/workload-ca'],
  );
});

test('an unreadable Secret of a Signer does not affect readiness', async () => {
  const signer = teamSigner();
  watches.serve([signer]);
  await until('it is withheld', PATIENCE_MS, () => failureOf(signer) !== undefined);
  assert.deepEqual(watches.unread(), []);
});

test('a Secret that a Signer and a ClusterSigner name has two watches, and both see it', async () => {
  granted = true;
  const inKeys = teamSigner({ namespace: 'countersign-keys' });
  const secretOf = inKeys.spec.authority.secret?.name ?? '';
  const cluster = workload({
    'authority.managed.secret': { namespace: 'countersign-keys', name: secretOf },
  });
  watches.serve([inKeys, cluster]);
  const both = [await stage.server.next(), await stage.server.next()];
  assert.deepEqual(
    both.map(({ path }) => path),
    [OURS, OURS],
  );
  assert.notEqual(watches.of(inKeys), watches.of(cluster));
});
