// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { singleKubeconfig } from '../../src/app/single-kubeconfig.ts';

test('KUBECONFIG names one file, or leaves the choice to the official client', () => {
  assert.equal(singleKubeconfig({ KUBECONFIG: '/a/config' }), '/a/config');
  assert.equal(singleKubeconfig({ KUBECONFIG: ':/a/config:' }), '/a/config');
  for (const KUBECONFIG of [undefined, '', ':', '/a:/b']) {
    assert.equal(singleKubeconfig({ KUBECONFIG }), undefined);
  }
});
