// SPDX-License-Identifier: Apache-2.0
import type { Call } from '../kube/scripted-server.ts';
import { hubSigner } from '../requests/intermediate.ts';

const LIST = {
  apiVersion: 'countersign.dev/v1alpha1',
  kind: 'ClusterSignerList',
  metadata: { resourceVersion: '1' },
};

/** Answers `countersign fleet join` as a hub whose signer is `fleet.example.com/members`. */
export function fleetAnswers(token: string): (call: Call) => void {
  const list = { ...LIST, items: [hubSigner([{}], { trustBundle: { name: 'root' } })] };
  return (call) => {
    if (call.path.endsWith('/token')) call.answer(201, { status: { token } });
    else if (call.path.endsWith('/clustersigners')) call.answer(200, list);
    else if (call.method === 'GET') call.answer(404, { reason: 'NotFound' });
    else call.answer(200, {});
  };
}
