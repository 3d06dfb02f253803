// SPDX-License-Identifier: Apache-2.0
import { example } from '../cluster/fixture.ts';

type Example = ReturnType<typeof example>;

/** The ClusterSigner of deploy/examples for pods, under another name. */
export function otherSigner(name: string, changes: object = {}): Example {
  const { spec, ...signer } = example('workload');
  const authority = structuredClone(spec.authority);
  Object.assign(authority.managed?.secret ?? {}, { name: `${name}-ca` });
  return Object.assign(signer, {
    metadata: { name },
    spec: { ...spec, signerName: `example.com/${name}`, authority, ...changes },
  });
}

/** One whose leaves have the names of the Services that select the pod. */
export function namingSigner(): Example {
  const { pods } = example('workload').spec;
  return otherSigner('named', { pods: { ...pods, services: { required: false } } });
}
