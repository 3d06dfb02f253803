// SPDX-License-Identifier: Apache-2.0
/** PodCertificateRequest in protobuf: k8s.io/api certificates/v1 and v1beta1, generated.proto. */
import type { Condition } from './conditions.ts';
import type { ObjectMeta } from '../object/object.ts';
import { isTerminal, type PodCertificateRequest } from './pod-certificate-request.ts';
import { envelope, type TypeMeta } from '#kube/protobuf/envelope.ts';
import {
  isOneOf,
  objectMetaMessage,
  readMapEntry,
  readObjectMeta,
  type MapEntry,
} from '#kube/protobuf/object-meta.ts';
import { MessageReader } from '#kube/protobuf/reader.ts';
import { readTime, timeMessage } from '#kube/protobuf/time.ts';
import { bytesField, message, stringField, type Field } from '#kube/protobuf/writer.ts';

type Mutable<T> = { -readonly [key in keyof T]: T[key] };
type Spec = Mutable<PodCertificateRequest['spec']>;
type Status = Mutable<NonNullable<PodCertificateRequest['status']>>;

/** Returns true for conditions of a request to read with its keys, proofs, stub and chain. */
type IsWhole = (status: Status) => boolean;

/** Skips keys, proofs, stubs and chains of final requests, because no code needs them. */
export const UNLESS_ANSWERED: IsWhole = (status) => !isTerminal({ status });

/**
 * Reads a PodCertificateRequest into the shape of its JSON, without owners, finalizers and
 * managedFields.
 *
 * @param raw - the message inside the envelope
 * @param isWhole - called with the conditions before the large fields are read. By default all are
 * read.
 * @throws SyntaxError if the message is malformed, or lacks metadata or spec
 */
export function readPodCertificateRequest(
  { apiVersion, kind }: TypeMeta,
  raw: Uint8Array,
  isWhole: IsWhole = () => true,
): PodCertificateRequest {
  const fields = new MessageReader(raw);
  let metadata: ObjectMeta | undefined;
  let spec: MessageReader | undefined;
  let status: Status = {};
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) metadata = readObjectMeta(fields.message());
    else if (field === 2) spec = fields.message();
    else if (field === 3) status = readStatus(fields.message(), isWhole);
    else fields.skip();
  }
  if (metadata === undefined || spec === undefined) {
    throw new SyntaxError('protobuf: a PodCertificateRequest without metadata or spec');
  }
  return { apiVersion, kind, metadata, spec: readSpec(spec, isWhole(status)), status };
}

const TEXTS = {
  1: 'signerName',
  2: 'podName',
  3: 'podUID',
  4: 'serviceAccountName',
  5: 'serviceAccountUID',
  6: 'nodeName',
  7: 'nodeUID',
} as const;
const MAX_EXPIRATION_SECONDS = 8;
const BYTES = { 9: 'pkixPublicKey', 10: 'proofOfPossession', 12: 'stubPKCS10Request' } as const;
const ANNOTATIONS = 11;

function readSpec(fields: MessageReader, octets: boolean): Spec {
  const spec: Spec = {
    signerName: '',
    podName: '',
    podUID: '',
    serviceAccountName: '',
    serviceAccountUID: '',
    nodeName: '',
    nodeUID: '',
  };
  const annotations: MapEntry[] = [];
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (isOneOf(TEXTS, field)) spec[TEXTS[field]] = fields.string();
    else if (octets && isOneOf(BYTES, field)) spec[BYTES[field]] = fields.base64();
    else if (field === MAX_EXPIRATION_SECONDS) spec.maxExpirationSeconds = fields.integer();
    else if (field === ANNOTATIONS) annotations.push(readMapEntry(fields.message()));
    else fields.skip();
  }
  if (annotations.length > 0) spec.unverifiedUserAnnotations = Object.fromEntries(annotations);
  return spec;
}

function readStatus(fields: MessageReader, isWhole: IsWhole): Status {
  const status: Status = {};
  const conditions: Condition[] = [];
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) conditions.push(readCondition(fields.message()));
    // Encoders write fields in the order of their numbers. A field out of order only costs an
    // unnecessary read.
    else if (field === 2 && isWhole({ conditions })) status.certificateChain = fields.string();
    else if (field === 4) status.notBefore = readTime(fields.message());
    else if (field === 5) status.beginRefreshAt = readTime(fields.message());
    else if (field === 6) status.notAfter = readTime(fields.message());
    else fields.skip();
  }
  if (status.certificateChain === '') delete status.certificateChain;
  if (conditions.length > 0) status.conditions = conditions;
  return status;
}

function readCondition(fields: MessageReader): Condition {
  let type = '';
  let status = '';
  let reason = '';
  let text = '';
  let lastTransitionTime = '';
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) type = fields.string();
    else if (field === 2) status = fields.string();
    else if (field === 4) lastTransitionTime = readTime(fields.message());
    else if (field === 5) reason = fields.string();
    else if (field === 6) text = fields.string();
    else fields.skip();
  }
  // The API server's schema allows no other.
  return { type, status: status as Condition['status'], reason, message: text, lastTransitionTime };
}

/**
 * Returns the body of a PUT to `/status`: the status, and the metadata that the precondition needs.
 * The API server ignores everything else (podcertificaterequest/strategy.go, GetResetFields and
 * ResetObjectMetaForStatus), except `generateName`, which it clears if the body lacks it.
 */
export function podStatusBody(
  request: Pick<PodCertificateRequest, 'apiVersion' | 'kind' | 'metadata' | 'status'>,
): Buffer {
  const { metadata, status = {} } = request;
  const fields = [bytesField(1, objectMetaMessage(metadata)), bytesField(3, statusMessage(status))];
  return envelope(request, message(...fields));
}

function statusMessage(status: Status): Uint8Array {
  return message(
    ...(status.conditions ?? []).map((each) => bytesField(1, conditionMessage(each))),
    stringField(2, status.certificateChain),
    ...timeField(4, status.notBefore),
    ...timeField(5, status.beginRefreshAt),
    ...timeField(6, status.notAfter),
  );
}

function conditionMessage(condition: Condition): Uint8Array {
  return message(
    stringField(1, condition.type),
    stringField(2, condition.status),
    ...timeField(4, condition.lastTransitionTime),
    stringField(5, condition.reason),
    stringField(6, condition.message),
  );
}

function timeField(number: number, text: string | undefined): readonly Field[] {
  return text === undefined ? [] : [bytesField(number, timeMessage(text))];
}
