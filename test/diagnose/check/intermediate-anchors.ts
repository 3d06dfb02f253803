// SPDX-License-Identifier: Apache-2.0
/** An intermediate alone as trust anchor, which OpenSSL, Node and Python reject. */
import { readExternalSigner } from '#api/external/external-signer.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { encodePem } from '#pki/der/pem.ts';
import { ca, keyIds, link, usage } from '../../support/pki/chain.ts';
import { at } from '../../operations/signer-states.ts';
import { signerObject } from '../../requests/external-signer/world.ts';

export const INTERMEDIATE = encodePem(
  'CERTIFICATE',
  link('Intermediate', {
    by: link('Root'),
    extensions: [ca(0), usage(), ...keyIds('Intermediate', 'Root')],
  }).certificate.raw,
);

/** The bundle of a foreign trust domain with an intermediate alone. */
export const PARTNER: ClusterTrustBundle = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'ClusterTrustBundle',
  metadata: {
    name: 'federated.partner.example',
    uid: 'b-1',
    resourceVersion: '1',
    creationTimestamp: at(0),
    annotations: { 'countersign.dev/trust-domain': 'partner.example' },
  },
  spec: { trustBundle: INTERMEDIATE },
};

const { status: _status, ...object } = signerObject();
const read = readExternalSigner(object);
const authority = { ...read.spec.authority, anchors: INTERMEDIATE };
export const CORPORATE = { ...read, spec: { ...read.spec, authority } };
