// Google's client takes parameters of its own shape; what it sends for them is the document. The client is asked itself,
// with a fetch that keeps the body; what the Gemini API does not know is sent as to Vertex AI.
import { require } from './types.mjs';

export async function makeSender() {
  const { GoogleGenAI } = require('@google/genai');
  const clients = [new GoogleGenAI({ apiKey: 'none' }), new GoogleGenAI({ vertexai: true, apiKey: 'none' })];
  return async (parameters) => {
    const before = globalThis.fetch;
    let body;
    globalThis.fetch = async (_, init) => {
      body = init.body;
      return new Response('{}', { headers: { 'content-type': 'application/json' } });
    };
    try {
      for (const client of clients) {
        try {
          await client.models.generateContent(structuredClone(parameters));
        } catch {
          continue; // this API does not take it
        }
        return JSON.parse(body);
      }
    } finally {
      globalThis.fetch = before;
    }
    return null;
  };
}
