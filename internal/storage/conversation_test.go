package storage

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/policy"
	"atelie/internal/storage/storagetest"
)

// Proves E-picture-who.
//
// TestPicturesOfConversationsArePrivate sends every call about a picture of a conversation, with every role. Only owners and the service key
// can read and list it. Only the service key can write and sign, and no public URL shows that the bucket exists.
func TestPicturesOfConversationsArePrivate(t *testing.T) {
	content := storagetest.WithComment(storagetest.JPEG(3, 2), "canary")
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		received, err := s.Receive(t.Context(), "message/reply/1", bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error { return received.Save(t.Context(), tx) }); err != nil {
			t.Fatal(err)
		}
		received.Discard(t.Context())
		s.HoldsFiles(1, 1) // only a copy without metadata is stored, not the uploaded file
		const picture = policy.ConversationBucket + "/message/reply/1"
		for _, who := range []string{"nobody", "anon", "user", "admin", "service"} {
			mayRead, mayWrite := who == "admin" || who == "service", who == "service"
			for _, address := range []string{"/object/public/" + picture, "/object/info/public/" + picture} {
				if rec := s.Call(who, "GET", address, nil); rec.Code == 200 {
					t.Errorf("%s reads %s", who, address)
				}
			}
			for _, address := range []string{"/object/" + picture, "/object/authenticated/" + picture, "/object/info/" + picture, "/bucket/" + policy.ConversationBucket} {
				rec := s.Call(who, "GET", address, nil)
				if (rec.Code == 200) != mayRead || strings.Contains(rec.Body.String(), "canary") {
					t.Errorf("%s reads %s: %d", who, address, rec.Code)
				}
			}
			for address, body := range map[string]string{"/object/list/" + policy.ConversationBucket: `{"prefix":"message/reply"}`, "/object/list-v2/" + policy.ConversationBucket: `{"prefix":"message/"}`} {
				if rec := s.Call(who, "POST", address, strings.NewReader(body)); strings.Contains(rec.Body.String(), `"etag"`) || strings.Contains(rec.Body.String(), `"eTag"`) != mayRead {
					t.Errorf("%s lists by %s: %d %s", who, address, rec.Code, rec.Body)
				}
			}
			if rec := s.Call(who, "GET", "/bucket", nil); strings.Contains(rec.Body.String(), policy.ConversationBucket) {
				t.Errorf("%s lists buckets: %s", who, rec.Body)
			}
			for _, c := range [][3]string{
				{"POST", "/object/sign/" + picture, `{"expiresIn":60}`}, {"POST", "/object/upload/sign/" + policy.ConversationBucket + "/x-" + who, ""},
				{"POST", "/object/" + policy.ConversationBucket + "/y-" + who, string(content)}, {"PUT", "/object/" + policy.ConversationBucket + "/y-" + who, string(content)},
			} {
				if rec := s.Call(who, c[0], c[1], strings.NewReader(c[2])); (rec.Code == 200) != mayWrite {
					t.Errorf("%s %s %s: %d %s", who, c[0], c[1], rec.Code, rec.Body)
				}
			}
			rec := s.Call(who, "POST", "/object/sign/"+policy.ConversationBucket, strings.NewReader(`{"expiresIn":60,"paths":["message/reply/1"]}`))
			if strings.Contains(rec.Body.String(), "token=") != mayWrite {
				t.Errorf("%s signs several: %s", who, rec.Body)
			}
			for _, c := range [][3]string{
				{"DELETE", "/object/" + picture, ""}, {"DELETE", "/object/" + policy.ConversationBucket, `{"prefixes":["message/reply/1"]}`},
				{"POST", "/object/move", `{"bucketId":"` + policy.ConversationBucket + `","sourceKey":"message/reply/1","destinationBucket":"product-images","destinationKey":"x.jpg"}`},
				{"PUT", "/bucket/" + policy.ConversationBucket, `{"public":true}`}, {"DELETE", "/bucket/" + policy.ConversationBucket, ""},
			} {
				if mayWrite && c[0] == "DELETE" && c[1] != "/bucket/"+policy.ConversationBucket {
					continue
				}
				if rec := s.Call(who, c[0], c[1], strings.NewReader(c[2])); rec.Code == 200 && rec.Body.String() != "[]" {
					t.Errorf("%s %s %s: %d %s", who, c[0], c[1], rec.Code, rec.Body)
				}
			}
		}
	})
}

// Proves E-picture-2.
//
// TestUnsavedPictureIsRemoved checks that a received file that is not saved is removed immediately, and that its pending blob is swept if
// the program was killed.
func TestUnsavedPictureIsRemoved(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		receive := func() *ReceivedPicture {
			received, err := s.Receive(t.Context(), "message/reply/1", bytes.NewReader(storagetest.WithComment(storagetest.JPEG(3, 2), "canary")))
			if err != nil {
				t.Fatal(err)
			}
			return received
		}
		receive().Discard(t.Context())
		s.HoldsFiles(0, 0)
		killed := receive()
		if err := errors.Join(killed.file.inspection.Stripped.Close(), killed.file.staged.Staged.Discard(t.Context())); err != nil { // done by the next start
			t.Fatal(err)
		}
		if len(s.Files()) != 1 {
			t.Errorf("%q", s.Files())
		}
		s.Clock = s.Clock.Add(2 * sweepAge)
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := s.Count("storage_trash"); n != 0 {
			t.Errorf("%d blobs are pending", n)
		}
		s.HoldsFiles(0, 0)
	})
}
