/** The encodings that every endpoint decompresses, in the format of the header `Accept-Encoding` of a 415 (RFC 9110, 15.5.16). */
export const SUPPORTED_ENCODINGS = 'gzip, deflate, br';

export const UNSUPPORTED_ENCODING = `Content-Encoding must be one of ${SUPPORTED_ENCODINGS}`;
