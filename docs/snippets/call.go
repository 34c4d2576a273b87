package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// target: encoded path and query. body: JSON text.
func call(method, target, body string) (*http.Response, error) {
	address := os.Getenv("SEALDESK_API_URL") + target
	request, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	bodyHash := sha256.Sum256([]byte(body))
	path := request.URL.RequestURI()
	message := []byte(timestamp + method + path + hex.EncodeToString(bodyHash[:]))
	mac := hmac.New(sha256.New, []byte(os.Getenv("SEALDESK_API_SECRET")))
	mac.Write(message)
	shown := base64.StdEncoding.EncodeToString(message)
	request.Header.Set("x-api-key", os.Getenv("SEALDESK_API_KEY"))
	request.Header.Set("x-api-timestamp", timestamp)
	request.Header.Set("x-api-signature", hex.EncodeToString(mac.Sum(nil)))
	request.Header.Set("x-api-signed-message", shown)
	request.Header.Set("content-type", "application/json")
	// The signature is for this address alone: follow no redirects.
	stop := func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}
	client := http.Client{CheckRedirect: stop, Timeout: time.Minute}
	return client.Do(request)
}

func main() {
	arguments := []string{"GET", "/api/v1/external/whoami", ""}
	copy(arguments, os.Args[1:])
	answer, err := call(arguments[0], arguments[1], arguments[2])
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode >= 300 {
		log.Fatal(string(text))
	}
	fmt.Println(string(text))
}
