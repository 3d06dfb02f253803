// SPDX-License-Identifier: Apache-2.0
/** Names the fields in which a signed object differs from its plan. */
import { formatTime } from '#api/object/time.ts';
import { sameBytes } from '#base/bytes.ts';
import { nameText } from '#pki/names/distinguished-name.ts';
import {
  decodeTbsList,
  type CertificateList,
  type TbsCertificateList,
} from '#pki/x509/certificate-list.ts';
import { decodeTbs, type Certificate, type TbsCertificate } from '#pki/x509/certificate.ts';
import { serialText } from '../revocation/serial.ts';

type Field<T> = readonly [name: string, text: (of: T) => string];

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex');

const CERTIFICATE_FIELDS: readonly Field<TbsCertificate>[] = [
  ['serial', ({ serial }) => hex(serial)],
  ['algorithm', ({ signatureAlgorithm }) => hex(signatureAlgorithm)],
  ['issuer', ({ issuer }) => nameText(issuer)],
  ['notBefore', ({ notBefore }) => formatTime(notBefore)],
  ['notAfter', ({ notAfter }) => formatTime(notAfter)],
  ['subject', ({ subject }) => nameText(subject)],
  ['key', ({ publicKey }) => hex(publicKey.spki)],
  ['pathLength', ({ pathLen }) => `${pathLen ?? 'none'}`],
];

const LIST_FIELDS: readonly Field<TbsCertificateList>[] = [
  ['issuer', ({ issuer }) => nameText(issuer)],
  ['number', ({ number }) => `${number}`],
  ['thisUpdate', ({ thisUpdate }) => formatTime(thisUpdate)],
  ['nextUpdate', ({ nextUpdate }) => formatTime(nextUpdate)],
  [
    'revoked',
    ({ revoked }) =>
      revoked
        .map(
          ({ serial, revokedAt, reason }) =>
            `${serialText(serial)} ${formatTime(revokedAt)} ${reason}`,
        )
        .join(', '),
  ],
];

/** Returns the fields in which a certificate differs from the planned to-be-signed part. */
export function certificateDifferences(found: Certificate, planned: Uint8Array): readonly string[] {
  if (sameBytes(found.tbs, planned)) return [];
  const wanted = decodeTbs(planned);
  const oids = [...new Set([...found.extensions, ...wanted.extensions].map(({ oid }) => oid))];
  const valueOf = ({ extensions }: TbsCertificate, oid: string): string => {
    const each = extensions.find((one) => one.oid === oid);
    return each === undefined ? 'absent' : `${each.critical ? 'critical ' : ''}${hex(each.value)}`;
  };
  const more = oids.map((oid): Field<TbsCertificate> => [
    `extension ${oid}`,
    (of) => valueOf(of, oid),
  ]);
  return differencesOf([...CERTIFICATE_FIELDS, ...more], found, wanted);
}

/** Returns the fields in which a CRL differs from the planned to-be-signed part. */
export function listDifferences(found: CertificateList, planned: Uint8Array): readonly string[] {
  if (sameBytes(found.tbs, planned)) return [];
  return differencesOf(LIST_FIELDS, found, decodeTbsList(planned));
}

function differencesOf<T>(fields: readonly Field<T>[], found: T, wanted: T): readonly string[] {
  const named = fields.flatMap(([name, text]) => {
    const [a, b] = [text(found), text(wanted)];
    return a === b ? [] : [`${name} is ${a || 'empty'}, and the file plans ${b || 'empty'}`];
  });
  return named.length > 0 ? named : ['its encoding differs'];
}
