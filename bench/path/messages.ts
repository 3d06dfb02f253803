// SPDX-License-Identifier: Apache-2.0
import { PROTOBUF, envelope, openEnvelope } from '#kube/protobuf/envelope.ts';
import { MessageReader } from '#kube/protobuf/reader.ts';
import { timeMessage } from '#kube/protobuf/time.ts';
import { bytesField, integerField, message, stringField } from '#kube/protobuf/writer.ts';
import { stubRequest } from '../../test/support/requests/stub-pkcs10.ts';
import { SIGNER_NAMES } from '../../test/faults/lab/wanted.ts';

/** PodCertificateRequests by their number, in the bytes that an API server sends. */
export interface Messages {
  /**
   * A watch frame with its length. @param status - the message of its status; undefined: pending
   */
  frame(type: 'ADDED' | 'MODIFIED', number: number, version: number, status?: Uint8Array): Buffer;
  bookmark(version: number, initialEnd: boolean): Buffer;
  /** The answer to a write. */
  metadataAlone(number: number, version: number): Buffer;
}

export const CONTENT_TYPE = PROTOBUF;
const NAMESPACE = 'team-bench';
const TYPE = { apiVersion: 'certificates.k8s.io/v1', kind: 'PodCertificateRequest' };
const ALONE = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' };
/** What an API server notes of who wrote which field, for each writer. Nobody of ours reads it. */
const MANAGED_FIELDS = 450;

export function createMessages(size: number): Messages {
  const stubs = Array.from({ length: size }, () => Buffer.from(stubRequest(), 'base64'));
  const created = new Date(Math.floor(Date.now() / 1000) * 1000).toISOString();
  const managed = bytesField(17, Buffer.alloc(MANAGED_FIELDS, 0x20));

  function metadata(number: number, version: number): Uint8Array {
    return message(
      stringField(1, nameOf(number)),
      stringField(2, ''),
      stringField(3, NAMESPACE),
      stringField(4, ''),
      stringField(5, uuidOf(number, 1)),
      stringField(6, String(version)),
      integerField(7, 1),
      bytesField(8, timeMessage(created)),
      managed,
    );
  }

  function object(number: number, version: number, status: Uint8Array): Uint8Array {
    const spec = message(
      stringField(1, SIGNER_NAMES.pcr),
      stringField(2, `web-${nameOf(number)}`),
      stringField(3, uuidOf(number, 2)),
      stringField(4, 'web'),
      stringField(5, uuidOf(1, 3)),
      stringField(6, 'node-1'),
      stringField(7, uuidOf(1, 4)),
      integerField(8, 86_400),
      bytesField(12, stubs[number] ?? new Uint8Array(0)),
    );
    return message(
      bytesField(1, metadata(number, version)),
      bytesField(2, spec),
      bytesField(3, status),
    );
  }

  return {
    frame: (type, number, version, status = new Uint8Array(0)) =>
      framed(type, envelope(TYPE, object(number, version, status))),
    bookmark: (version, initialEnd) => {
      const annotation = message(
        stringField(1, 'k8s.io/initial-events-end'),
        stringField(2, String(initialEnd)),
      );
      const meta = message(stringField(6, String(version)), bytesField(12, annotation));
      return framed('BOOKMARK', envelope(TYPE, message(bytesField(1, meta))));
    },
    metadataAlone: (number, version) =>
      envelope(ALONE, message(bytesField(1, metadata(number, version)))),
  };
}

/** The number in a path; undefined where it is none of ours. */
export function numberIn(path: string): number | undefined {
  const found = /\/podcertificaterequests\/path-(\d+)(?:\/status)?$/.exec(path)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** The status that a write brings. */
export function statusOf(body: Uint8Array): Uint8Array {
  const fields = new MessageReader(openEnvelope(body).raw);
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 3) return fields.bytes();
    fields.skip();
  }
  throw new SyntaxError('a write without a status');
}

function framed(type: string, object: Uint8Array): Buffer {
  const raw = message(bytesField(1, object));
  const event = message(stringField(1, type), bytesField(2, raw));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

function nameOf(number: number): string {
  return `path-${number}`;
}

function uuidOf(number: number, kind: number): string {
  return `${number.toString(16).padStart(8, '0')}-0000-4000-8000-${String(kind).padStart(12, '0')}`;
}
