package httpx

import (
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// Proves F-wire-coerce.
//
// TestLenientJSON decodes values that clients send instead of those that the API documents.
func TestLenientJSON(t *testing.T) {
	type body struct {
		N    *int64   `json:"n"`
		Size int      `json:"size"`
		S    string   `json:"s"`
		B    bool     `json:"b"`
		Opt  *bool    `json:"opt"`
		List []string `json:"list"`
		Sort struct {
			Column string `json:"column"`
		} `json:"sort"`
		Raw json.RawMessage `json:"raw"`
	}
	n, yes := int64(60), true
	for text, want := range map[string]body{
		`{"n":"60","size":"5"}`:     {N: &n, Size: 5},
		`{"n":" 60 ","size":5.0}`:   {N: &n, Size: 5},
		`{"n":[60],"size":true}`:    {N: &n, Size: 1},
		`{"n":6e1}`:                 {N: &n},
		`{"b":"true","opt":1}`:      {B: true, Opt: &yes},
		`{"b":1,"opt":"true"}`:      {B: true, Opt: &yes},
		`{"list":"a.jpg"}`:          {List: []string{"a.jpg"}},
		`{"list":["a.jpg",7,true]}`: {List: []string{"a.jpg", "7", "true"}},
		`{"s":7,"sort":{"column":["x"]}}`: {S: "7", Sort: struct {
			Column string `json:"column"`
		}{"x"}},
		`{"raw":"60"}`:                     {Raw: json.RawMessage(`"60"`)},
		`{"n":null,"s":null,"list":null}`:  {},
		``:                                 {},
		`null`:                             {},
		`{"S":"\u00e3","other":[{"a":1}]}`: {S: "ã"},
	} {
		var got body
		if err := DecodeLenientJSON(httptest.NewRecorder(), httptest.NewRequest("POST", "/", strings.NewReader(text)), 1<<20, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		`{"n":"sixty"}`, `{"n":""}`, `{"n":"6.5"}`, `{"n":6.5}`, `{"n":"0x3c"}`, `{"n":"1_0"}`, `{"n":[1,2]}`, `{"n":{}}`, `{"n":"NaN"}`, `{"n":"1e400"}`, `{"b":"yes"}`, `{"b":2}`,
		`{"s":{}}`, `{"s":[1,2]}`, `{"list":{}}`, `{"list":[{}]}`, `{"sort":[]}`, `{"sort":"name"}`, `[]`, `7`, `{`, `{"n":99999999999999999999}`,
	} {
		var got body
		if err := DecodeLenientJSON(httptest.NewRecorder(), httptest.NewRequest("POST", "/", strings.NewReader(text)), 1<<20, &got); err == nil {
			t.Errorf("%s was taken as %+v", text, got)
		}
	}
}
