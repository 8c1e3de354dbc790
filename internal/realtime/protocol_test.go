package realtime

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// push returns a binary message as a client sends it.
func push(joinRef, ref, topic, event, metadata string, encoding byte, payload string) []byte {
	b := []byte{binaryPush, byte(len(joinRef)), byte(len(ref)), byte(len(topic)), byte(len(event)), byte(len(metadata)), encoding}
	return append(b, joinRef+ref+topic+event+metadata+payload...)
}

// Proves RT-connect-1.
func TestFramesOfBothProtocols(t *testing.T) {
	for name, c := range map[string]struct {
		v2   bool
		text string
	}{
		"2.0.0": {true, `["6","7","realtime:T","phx_join",{"a":1}]`},
		"1.0.0": {false, `{"topic":"realtime:T","event":"phx_join","payload":{"a":1},"ref":"7","join_ref":"6"}`},
	} {
		in, err := decode(c.v2, false, []byte(c.text))
		if err != nil || *in.joinRef != "6" || *in.ref != "7" || in.topic != "realtime:T" || in.event != eventJoin || string(in.payload) != `{"a":1}` {
			t.Errorf("%s: %+v, %v", name, in, err)
		}
		again, err := decode(c.v2, false, encode(c.v2, in.joinRef, in.ref, in.topic, in.event, in.payload).data)
		if err != nil || *again.joinRef != "6" || *again.ref != "7" || again.topic != in.topic || string(again.payload) != `{"a":1}` {
			t.Errorf("%s: the encoded frame differs from the decoded one: %+v, %v", name, again, err)
		}
	}
}

// Proves RT-broadcast-1, RT-broadcast-4.
func TestABinaryBroadcast(t *testing.T) {
	in, err := decode(true, true, push("6", "7", "realtime:Praça", "olá", `{"persist":true}`, encodingJSON, `{"x":1}`))
	if err != nil || *in.joinRef != "6" || *in.ref != "7" || in.topic != "realtime:Praça" || in.event != eventBroadcast || in.message.Event != "olá" || string(in.message.JSON) != `{"x":1}` {
		t.Fatalf("got %+v, error %v", in, err)
	}
	f, ok := encodeMessage(true, in.topic, *in.message)
	want := append([]byte{binaryBroadcast, byte(len(in.topic)), byte(len("olá")), 0, encodingJSON}, `realtime:Praçaolá{"x":1}`...)
	if !ok || f.kind != websocket.MessageBinary || !bytes.Equal(f.data, want) {
		t.Errorf("got %q", f.data)
	}
	f, ok = encodeMessage(false, in.topic, *in.message)
	var o struct {
		Payload struct{ Type, Event string }
	}
	if err := json.Unmarshal(f.data, &o); !ok || err != nil || o.Payload.Type != "broadcast" || o.Payload.Event != "olá" {
		t.Errorf("got %s", f.data)
	}
	if in, err = decode(true, true, push("", "", "realtime:T", "e", "", encodingRaw, "\x00\xff")); err != nil || in.ref != nil || in.joinRef != nil || string(in.message.Raw) != "\x00\xff" {
		t.Errorf("got %+v, error %v", in, err)
	}
	if _, ok := encodeMessage(false, "realtime:T", *in.message); ok {
		t.Error("raw bytes were encoded for 1.0.0, which cannot carry them")
	}
}

// Proves RT-connect-5.
func TestBadFramesAreRefused(t *testing.T) {
	for _, text := range []string{``, `null`, `7`, `{}x`, `[]`, `["1","2","t","e"]`, `["1","2","t","e",{},1]`, `[1,"2","t","e",{}]`, `["1","2",3,"e",{}]`, "[\"1\",\"2\",\"t\xff\",\"e\",{}]",
		`["1","2","` + strings.Repeat("a", 256) + `","e",{}]`} {
		if in, err := decode(true, false, []byte(text)); err == nil {
			t.Errorf("%.40q: %+v", text, in)
		}
	}
	for _, data := range [][]byte{nil, {binaryPush}, {binaryPush, 0, 0, 0, 0, 0}, {binaryPush, 9, 0, 0, 0, 0, 1}, {binaryBroadcast, 0, 0, 0, 0, 0, 1}, push("", "", "t", "e", "", 2, "{}"), push("", "", "t", "e", "", encodingJSON, "{"), push("", "", "t\xff", "e", "", encodingJSON, "{}"), push("", "", "t", "e", "", encodingJSON, "\"\xff\"")} {
		if in, err := decode(true, true, data); err == nil {
			t.Errorf("%q: %+v", data, in)
		}
	}
	if _, err := decode(false, true, push("", "", "t", "e", "", encodingJSON, "{}")); err == nil {
		t.Error("1.0.0 has no binary frames")
	}
}

// Proves RT-connect-5.
//
// FuzzDecode checks that no frame makes the parser panic, and that each accepted frame can be encoded again.
func FuzzDecode(f *testing.F) {
	f.Add(true, false, []byte(`["6","7","realtime:T","phx_join",{"config":{}}]`))
	f.Add(false, false, []byte(`{"topic":"realtime:T","event":"phx_join","payload":{},"ref":"1"}`))
	f.Add(true, true, push("6", "7", "realtime:T", "e", "", encodingJSON, `{"x":1}`))
	f.Add(true, true, push("", "", "realtime:T", "e", "{}", encodingRaw, "\x00"))
	f.Fuzz(func(t *testing.T, v2, binary bool, data []byte) {
		in, err := decode(v2, binary, data)
		if err != nil {
			return
		}
		payload := []byte("{}")
		if in.message != nil {
			if m, ok := encodeMessage(true, in.topic, *in.message); !ok || len(m.data) < 5 {
				t.Fatalf("%+v has no frame", in.message)
			}
		}
		out := encode(v2, in.joinRef, in.ref, in.topic, in.event, payload)
		if !json.Valid(out.data) || !utf8.Valid(out.data) {
			t.Fatalf("%q", out.data)
		}
		if again, err := decode(v2, false, out.data); err != nil && len(in.topic) < maxName/6 && len(in.event) < maxName/6 {
			t.Fatalf("%q: %+v, %v", out.data, again, err)
		}
	})
}
