// SPDX-License-Identifier: Apache-2.0
/**
 * Leaves that have the name of their CA. Without an authorityKeyIdentifier, OpenSSL takes such a
 * leaf for a root that signed itself (X509_check_issued).
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import { verifyReturnedChain } from '#ca/issuance/verify-returned-chain.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { isSelfSigned } from '#pki/x509/issuers.ts';
import { NOW, leafInput, openAuthority, publicKeyInfo } from '../../support/ca/issuing.ts';
import { ca, keyIds, link, purposes, san, usage } from '../../support/pki/chain.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { issuedLeaf } from './issued-leaf.ts';

const NAME = 'registry.example';
const HOUR_SECONDS = 3600;
/** id-kp-serverAuth (RFC 5280 §4.2.1.12). */
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';

test('a leaf with the name of its CA leads to the CA, and not to itself', async () => {
  const authority = await openAuthority();
  const root = new X509Certificate(authority.facts.certificate.raw);
  const commonName = root.subject.replace('CN=', '');
  const { issuer: _, ...plan } = leafInput(authority, {
    subject: { ...EMPTY_SUBJECT, commonName, dnsNames: [NAME] },
  });
  const leaf = await issuedLeaf(authority, plan, NOW);
  assert.equal(leaf.subject, root.subject);
  assert.equal(leaf.issuer, root.subject);
  assert.equal(leaf.checkIssued(root), true);
  assert.equal(leaf.checkIssued(leaf), false);
  assert.equal(isSelfSigned(decodeCertificate(leaf.raw)), false);
});

test('a leaf that a foreign CA returned with its own name is delivered', () => {
  const root = link('root', { extensions: [ca(), usage(), ...keyIds('root')] });
  const issuing = link(NAME, {
    by: root,
    key: privateKey('P-256', 'issuing'),
    extensions: [ca(0), usage(), ...keyIds('issuing', 'root')],
  });
  const key = privateKey('P-256', 'leaf');
  const leaf = link(NAME, {
    by: issuing,
    key,
    extensions: [
      usage([0x80], 7),
      san([2, NAME]),
      purposes(SERVER_AUTH),
      ...keyIds('leaf', 'issuing'),
    ],
  });
  const { notBefore, notAfter } = leaf.certificate;
  const { chain, anchor } = verifyReturnedChain({
    chain: [leaf, issuing].map((each) => encodePem('CERTIFICATE', each.certificate.raw)).join(''),
    subject: { ...EMPTY_SUBJECT, commonName: NAME, dnsNames: [NAME] },
    publicKey: publicKeyInfo(key),
    usages: ['digital signature', 'server auth'],
    validity: { notBefore, notAfter },
    minimumSeconds: HOUR_SECONDS,
    anchors: [root.certificate],
    now: notBefore,
  });
  const bytesOf = ({ raw }: Certificate): string => Buffer.from(raw).toString('hex');
  assert.deepEqual(
    [...chain, anchor].map(bytesOf),
    [leaf, issuing, root].map(({ certificate }) => bytesOf(certificate)),
  );
});
