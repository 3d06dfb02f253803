// SPDX-License-Identifier: Apache-2.0
/** The command that deletes pods is enough only where a controller creates another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OwnerReference, Pod } from '#api/object/pod.ts';
import { deleteCommand } from '#diagnose/check/pods/named-pods.ts';

const BY_CONTROLLER = [{ kind: 'ReplicaSet', name: 'web-7f', controller: true }];

function pod(namespace: string, name: string, ownerReferences?: readonly OwnerReference[]): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name,
      uid: name,
      resourceVersion: '1',
      creationTimestamp: '2026-05-01T00:00:00Z',
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
    spec: {},
  };
}

test('pods of controllers are deleted, with one command for each namespace', () => {
  const pods = [pod('a', 'web-2', BY_CONTROLLER), pod('b', 'db', BY_CONTROLLER)];
  assert.equal(
    deleteCommand([...pods, pod('a', 'web-1', BY_CONTROLLER)]),
    'kubectl -n a delete pod web-1 web-2 && kubectl -n b delete pod db',
  );
});

test('a pod that no controller creates again is named behind the command', () => {
  const owned = [{ kind: 'Thing', name: 'x', controller: false }];
  const pods = [pod('a', 'web', BY_CONTROLLER), pod('a', 'bare'), pod('b', 'tool', owned)];
  assert.equal(
    deleteCommand(pods),
    'kubectl -n a delete pod bare web && kubectl -n b delete pod tool   # no controller recreates 2 pods (a/bare, b/tool): recreate each from its manifest',
  );
});
