// SPDX-License-Identifier: Apache-2.0
/** A server that answers external-signer as the secrets engine of a Vault does. */
import { CLIENT_TOKEN, leafOf, ROLE, vaultCa } from '../requests/external-signer/world.ts';
import { selfSignedCa } from '../support/ca/ca-secret.ts';
import { startScriptedServer } from '../support/kube/scripted-server.ts';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';

export const CORPORATE_SIGNER_NAME = 'example.com/corporate';
/** The namespace whose pods get the certificate of the CA in place of the one that was ordered. */
export const CHEATED_TEAM = 'team-cheated';

/** A CA with the API of Vault, and the ExternalClusterSigner `corporate` of it. */
export interface CorporateCa {
  readonly url: string;
  readonly signer: object;
  stop(): Promise<void>;
}

/** Starts it on a free port of the loopback address. */
export async function startCorporateCa(): Promise<CorporateCa> {
  const material = await selfSignedCa('Corporate CA');
  const ca = vaultCa(material, Date.now());
  const { cert, key } = await tlsCertificate('corporate');
  const server = await startScriptedServer({ cert, key });
  const signed = (body: string): string => {
    const wanted = JSON.parse(body) as Readonly<Record<string, unknown>>;
    const isCheated = String(wanted['uri_sans']).includes(CHEATED_TEAM);
    return isCheated ? material.certificate : leafOf(wanted, Date.now(), {}, ca);
  };
  server.always(({ path, body, answer }) => {
    if (path.endsWith('/login')) answer(200, { auth: { client_token: CLIENT_TOKEN } });
    else if (path.includes('/roles/')) answer(200, { data: ROLE });
    else if (path.includes('/sign/')) {
      answer(200, { data: { certificate: signed(body), ca_chain: [] } });
    } else answer(404, { errors: [] });
  });
  return {
    url: server.url,
    signer: signerObject(server.url, cert, material.certificate),
    stop: () => server.stop(),
  };
}

function signerObject(server: string, caBundle: string, anchors: string): object {
  const vault = { server, caBundle, mount: 'pki', role: 'pods', auth: { role: 'pods' } };
  return {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'ExternalClusterSigner',
    metadata: { name: 'corporate' },
    spec: {
      signerName: CORPORATE_SIGNER_NAME,
      authority: { vault, anchors },
      pods: {
        allow: 'true',
        uris: ["'spiffe://cluster.local/ns/' + pod.namespace + '/sa/' + pod.serviceAccount"],
      },
    },
  };
}
